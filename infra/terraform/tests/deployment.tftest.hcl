# What a deployment with everything in it promises. Policies are read back from their JSON.

mock_provider "aws" {
  mock_data "aws_caller_identity" {
    defaults = { account_id = "123456789012" }
  }
  mock_data "aws_partition" {
    defaults = { partition = "aws", dns_suffix = "amazonaws.com" }
  }
  mock_data "aws_region" {
    defaults = { region = "eu-central-1" }
  }

  override_resource {
    target = aws_dynamodb_table.this
    values = { arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/snacks" }
  }
  override_resource {
    target = aws_lambda_function.background
    values = { arn = "arn:aws:lambda:eu-central-1:123456789012:function:snacks-background" }
  }
  override_resource {
    target = aws_lambda_function_url.http
    values = { function_url = "https://abc.lambda-url.eu-central-1.on.aws/" }
  }
  override_resource {
    target = aws_cloudwatch_log_group.http
    values = { arn = "arn:aws:logs:eu-central-1:123456789012:log-group:/aws/lambda/snacks-http" }
  }
  override_resource {
    target = aws_cloudwatch_log_group.background
    values = { arn = "arn:aws:logs:eu-central-1:123456789012:log-group:/aws/lambda/snacks-background" }
  }
  override_resource {
    target = aws_sqs_queue.dead_letters
    values = {
      arn = "arn:aws:sqs:eu-central-1:123456789012:snacks-dead-letters"
      url = "https://sqs.eu-central-1.amazonaws.com/123456789012/snacks-dead-letters"
    }
  }
  override_resource {
    target = aws_iam_role.timers
    values = { arn = "arn:aws:iam::123456789012:role/snacks-timers-eu-central-1" }
  }
  override_resource {
    target = aws_scheduler_schedule_group.this
    values = { arn = "arn:aws:scheduler:eu-central-1:123456789012:schedule-group/snacks-timers" }
  }
}

variables {
  name                       = "snacks"
  zip_path                   = "./tests/fixtures/package.zip"
  signing_secret_arn         = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:snacks-AbCdEf"
  signing_secret_kms_key_arn = "arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
  table_kms_key_arn          = "arn:aws:kms:eu-central-1:123456789012:key/5678abcd-12ab-34cd-56ef-1234567890ab"
  timers                     = true
  environment                = { SNACK_MENU = "autumn" }
  alarm_actions              = ["arn:aws:sns:eu-central-1:123456789012:alarms"]
}

run "functions" {
  assert {
    condition = alltrue([for f in [aws_lambda_function.http, aws_lambda_function.background[0]] :
      f.filename == var.zip_path &&
      f.source_code_hash == filebase64sha256(var.zip_path) &&
      f.runtime == "provided.al2023" &&
      f.handler == "bootstrap" &&
      f.architectures == tolist(["arm64"]) &&
      f.memory_size == 256 &&
      f.reserved_concurrent_executions == -1
    ])
    error_message = "Both functions must be made of the package, for arm64, on provided.al2023."
  }
  assert {
    condition     = aws_lambda_function.http.timeout == 10 && aws_lambda_function.background[0].timeout == 900
    error_message = "The HTTP function must have 10 seconds, the background function 900."
  }
  assert {
    condition     = aws_lambda_function.http.role == aws_iam_role.http.arn && aws_lambda_function.background[0].role == aws_iam_role.background[0].arn
    error_message = "Each function must have a role of its own."
  }
  assert {
    condition = alltrue([for r in [aws_iam_role.http, aws_iam_role.background[0]] :
      one(jsondecode(r.assume_role_policy).Statement[*].Principal.Service) == "lambda.amazonaws.com"
    ])
    error_message = "Only Lambda may assume the functions' roles."
  }
}

run "environment" {
  # The whole map, so that nothing else gets in either.
  assert {
    condition = aws_lambda_function.http.environment[0].variables == tomap({
      AWS_LAMBDA_LOG_LEVEL    = "info"
      PUP_BACKGROUND_FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:snacks-background"
      PUP_ROLE                = "http"
      PUP_SIGNING_SECRET_ARN  = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:snacks-AbCdEf"
      PUP_TABLE               = "snacks"
      PUP_TIMER_GROUP         = "snacks-timers"
      PUP_TIMER_ROLE_ARN      = "arn:aws:iam::123456789012:role/snacks-timers-eu-central-1"
      SNACK_MENU              = "autumn"
    })
    error_message = "The HTTP function's environment is not the one agreed with the binary."
  }
  assert {
    condition = aws_lambda_function.background[0].environment[0].variables == tomap({
      AWS_LAMBDA_LOG_LEVEL    = "info"
      PUP_BACKGROUND_FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:snacks-background"
      PUP_ROLE                = "background"
      PUP_TABLE               = "snacks"
      PUP_TIMER_GROUP         = "snacks-timers"
      PUP_TIMER_ROLE_ARN      = "arn:aws:iam::123456789012:role/snacks-timers-eu-central-1"
      SNACK_MENU              = "autumn"
    })
    error_message = "The background function's environment is not the one agreed with the binary, or holds a signing secret."
  }
}

run "url" {
  assert {
    condition     = aws_lambda_function_url.http.function_name == "snacks-http" && aws_lambda_function_url.http.authorization_type == "NONE" && aws_lambda_function_url.http.invoke_mode == "BUFFERED"
    error_message = "The HTTP function must have an open, buffered URL."
  }
  assert {
    condition = alltrue([
      aws_lambda_permission.url.function_name == "snacks-http",
      aws_lambda_permission.url.action == "lambda:InvokeFunctionUrl",
      aws_lambda_permission.url.principal == "*",
      aws_lambda_permission.url.function_url_auth_type == "NONE",
    ])
    error_message = "Everyone must be allowed to invoke the URL."
  }
  assert {
    condition = alltrue([
      aws_lambda_permission.via_url.function_name == "snacks-http",
      aws_lambda_permission.via_url.action == "lambda:InvokeFunction",
      aws_lambda_permission.via_url.principal == "*",
      coalesce(aws_lambda_permission.via_url.invoked_via_function_url, false),
    ])
    error_message = "Everyone must be allowed to invoke the function, through the URL and in no other way."
  }
  assert {
    # The names of the statements that the provider adds by itself: the same ones would collide.
    condition     = length(setintersection([aws_lambda_permission.url.statement_id, aws_lambda_permission.via_url.statement_id], ["FunctionURLAllowPublicAccess", "FunctionURLAllowInvokeAction"])) == 0
    error_message = "The permissions must not take the names of the provider's own."
  }
}

run "table" {
  assert {
    condition     = aws_dynamodb_table.this.billing_mode == "PAY_PER_REQUEST" && aws_dynamodb_table.this.hash_key == "pk" && aws_dynamodb_table.this.range_key == "sk"
    error_message = "The table must be on demand, with the keys pk and sk."
  }
  assert {
    condition     = { for a in aws_dynamodb_table.this.attribute : a.name => a.type } == { pk = "S", sk = "S" }
    error_message = "The table's keys must be strings."
  }
  assert {
    condition     = aws_dynamodb_table.this.ttl[0].attribute_name == "ttl" && aws_dynamodb_table.this.ttl[0].enabled
    error_message = "Items must expire by the attribute ttl."
  }
  assert {
    condition     = aws_dynamodb_table.this.point_in_time_recovery[0].enabled && aws_dynamodb_table.this.deletion_protection_enabled
    error_message = "The table must be recoverable and protected, unless told otherwise."
  }
  assert {
    condition     = aws_dynamodb_table.this.server_side_encryption[0].enabled && aws_dynamodb_table.this.server_side_encryption[0].kms_key_arn == var.table_kms_key_arn
    error_message = "The table must be encrypted with the key that is given."
  }
}

run "http_role" {
  assert {
    condition     = aws_iam_role_policy.http.role == aws_iam_role.http.id
    error_message = "The policy must be the HTTP function's."
  }
  # Each action with what it may be done to: more than these, or a wildcard, and this fails.
  assert {
    condition = toset(flatten([for s in jsondecode(aws_iam_role_policy.http.policy).Statement : [for a in s.Action : [for r in s.Resource : "${s.Effect} ${a} ${r}"]]])) == toset([
      "Allow dynamodb:ConditionCheckItem arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow dynamodb:DeleteItem arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow dynamodb:GetItem arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow dynamodb:PutItem arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow dynamodb:Query arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow dynamodb:UpdateItem arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow iam:PassRole arn:aws:iam::123456789012:role/snacks-timers-eu-central-1",
      "Allow kms:Decrypt arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab",
      "Allow kms:Decrypt arn:aws:kms:eu-central-1:123456789012:key/5678abcd-12ab-34cd-56ef-1234567890ab",
      "Allow lambda:InvokeFunction arn:aws:lambda:eu-central-1:123456789012:function:snacks-background",
      "Allow logs:CreateLogStream arn:aws:logs:eu-central-1:123456789012:log-group:/aws/lambda/snacks-http:*",
      "Allow logs:PutLogEvents arn:aws:logs:eu-central-1:123456789012:log-group:/aws/lambda/snacks-http:*",
      "Allow scheduler:CreateSchedule arn:aws:scheduler:eu-central-1:123456789012:schedule/snacks-timers/*",
      "Allow secretsmanager:GetSecretValue arn:aws:secretsmanager:eu-central-1:123456789012:secret:snacks-AbCdEf",
    ])
    error_message = "The HTTP function may do something else than agreed."
  }
  assert {
    condition = { for s in jsondecode(aws_iam_role_policy.http.policy).Statement : s.Sid => s.Condition if can(s.Condition) } == {
      SigningSecretKey = { StringEquals = { "kms:ViaService" = "secretsmanager.eu-central-1.amazonaws.com" } }
      TableKey         = { StringEquals = { "kms:ViaService" = "dynamodb.eu-central-1.amazonaws.com" } }
      TimerRole        = { StringEquals = { "iam:PassedToService" = "scheduler.amazonaws.com" } }
    }
    error_message = "Keys must be used through their services only, and the timer role passed to the scheduler only."
  }
}

run "background_role" {
  assert {
    condition     = aws_iam_role_policy.background[0].role == aws_iam_role.background[0].id
    error_message = "The policy must be the background function's."
  }
  assert {
    condition = toset(flatten([for s in jsondecode(aws_iam_role_policy.background[0].policy).Statement : [for a in s.Action : [for r in s.Resource : "${s.Effect} ${a} ${r}"]]])) == toset([
      "Allow dynamodb:ConditionCheckItem arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow dynamodb:DeleteItem arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow dynamodb:GetItem arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow dynamodb:PutItem arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow dynamodb:Query arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow dynamodb:UpdateItem arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      "Allow iam:PassRole arn:aws:iam::123456789012:role/snacks-timers-eu-central-1",
      "Allow kms:Decrypt arn:aws:kms:eu-central-1:123456789012:key/5678abcd-12ab-34cd-56ef-1234567890ab",
      "Allow lambda:InvokeFunction arn:aws:lambda:eu-central-1:123456789012:function:snacks-background",
      "Allow logs:CreateLogStream arn:aws:logs:eu-central-1:123456789012:log-group:/aws/lambda/snacks-background:*",
      "Allow logs:PutLogEvents arn:aws:logs:eu-central-1:123456789012:log-group:/aws/lambda/snacks-background:*",
      "Allow scheduler:CreateSchedule arn:aws:scheduler:eu-central-1:123456789012:schedule/snacks-timers/*",
      "Allow sqs:SendMessage arn:aws:sqs:eu-central-1:123456789012:snacks-dead-letters",
    ])
    error_message = "The background function may do something else than agreed."
  }
  assert {
    condition = { for s in jsondecode(aws_iam_role_policy.background[0].policy).Statement : s.Sid => s.Condition if can(s.Condition) } == {
      TableKey  = { StringEquals = { "kms:ViaService" = "dynamodb.eu-central-1.amazonaws.com" } }
      TimerRole = { StringEquals = { "iam:PassedToService" = "scheduler.amazonaws.com" } }
    }
    error_message = "Keys must be used through their services only, and the timer role passed to the scheduler only."
  }
}

run "timers" {
  assert {
    condition     = jsondecode(aws_iam_role.timers[0].assume_role_policy).Statement[*].Principal == [{ Service = "scheduler.amazonaws.com" }]
    error_message = "Only the scheduler may assume the timer role."
  }
  assert {
    condition = jsondecode(aws_iam_role.timers[0].assume_role_policy).Statement[0].Condition == { StringEquals = {
      "aws:SourceAccount" = "123456789012"
      "aws:SourceArn"     = "arn:aws:scheduler:eu-central-1:123456789012:schedule-group/snacks-timers"
    } }
    error_message = "Only this account's schedules, of this group, may use the timer role."
  }
  assert {
    condition     = aws_iam_role_policy.timers[0].role == aws_iam_role.timers[0].id
    error_message = "The policy must be the timer role's."
  }
  assert {
    condition     = [for s in jsondecode(aws_iam_role_policy.timers[0].policy).Statement : [s.Effect, s.Action, s.Resource]] == [["Allow", ["lambda:InvokeFunction"], ["arn:aws:lambda:eu-central-1:123456789012:function:snacks-background"]]]
    error_message = "The timer role may invoke the background function, and nothing else."
  }
}

run "dead_letters" {
  assert {
    condition     = aws_lambda_function_event_invoke_config.background[0].function_name == "snacks-background" && aws_lambda_function_event_invoke_config.background[0].maximum_retry_attempts == 2 && aws_lambda_function_event_invoke_config.background[0].maximum_event_age_in_seconds == 21600
    error_message = "A hand-over to the background must be tried again twice, within six hours."
  }
  assert {
    condition     = aws_lambda_function_event_invoke_config.background[0].destination_config[0].on_failure[0].destination == aws_sqs_queue.dead_letters[0].arn
    error_message = "What fails for good must go into the queue."
  }
  assert {
    condition     = aws_sqs_queue.dead_letters[0].sqs_managed_sse_enabled && aws_sqs_queue.dead_letters[0].message_retention_seconds == 1209600
    error_message = "Dead letters must be encrypted, and kept for 14 days."
  }
}

run "logs" {
  assert {
    condition     = aws_cloudwatch_log_group.http.name == "/aws/lambda/snacks-http" && aws_cloudwatch_log_group.background[0].name == "/aws/lambda/snacks-background"
    error_message = "Each function must have a log group of its own."
  }
  assert {
    condition     = aws_cloudwatch_log_group.http.retention_in_days == 30 && aws_cloudwatch_log_group.background[0].retention_in_days == 30
    error_message = "Logs must not be kept for ever."
  }
  assert {
    condition     = aws_lambda_function.http.logging_config[0].log_group == "/aws/lambda/snacks-http" && aws_lambda_function.background[0].logging_config[0].log_group == "/aws/lambda/snacks-background"
    error_message = "Each function must log into its own group."
  }
}

run "alarms" {
  assert {
    condition = { for key, a in aws_cloudwatch_metric_alarm.this : key => "${a.namespace} ${a.metric_name} ${coalesce(a.statistic, a.extended_statistic)} > ${a.threshold} ${jsonencode(a.dimensions)} x${a.evaluation_periods}" } == {
      background-dropped   = "AWS/Lambda AsyncEventsDropped Sum > 0 {\"FunctionName\":\"snacks-background\"} x1"
      background-errors    = "AWS/Lambda Errors Sum > 0 {\"FunctionName\":\"snacks-background\"} x3"
      background-throttles = "AWS/Lambda Throttles Sum > 0 {\"FunctionName\":\"snacks-background\"} x1"
      dead-letters         = "AWS/SQS ApproximateNumberOfMessagesVisible Maximum > 0 {\"QueueName\":\"snacks-dead-letters\"} x1"
      http-duration        = "AWS/Lambda Duration p99 > 4000 {\"FunctionName\":\"snacks-http\"} x1"
      http-errors          = "AWS/Lambda Errors Sum > 0 {\"FunctionName\":\"snacks-http\"} x1"
      http-throttles       = "AWS/Lambda Throttles Sum > 0 {\"FunctionName\":\"snacks-http\"} x1"
    }
    error_message = "An alarm is missing, or watches something else."
  }
  assert {
    condition     = alltrue([for a in aws_cloudwatch_metric_alarm.this : a.comparison_operator == "GreaterThanThreshold" && a.treat_missing_data == "notBreaching" && a.alarm_actions == toset(var.alarm_actions)])
    error_message = "Every alarm must tell whom it should, and be quiet while nothing happens."
  }
}

run "outputs" {
  assert {
    condition     = output.manifest_url == "https://abc.lambda-url.eu-central-1.on.aws/manifest.json" && output.function_url == "https://abc.lambda-url.eu-central-1.on.aws/"
    error_message = "The manifest must be at the function's own URL."
  }
  assert {
    condition = alltrue([
      output.function_name == "snacks-http",
      output.background_function_name == "snacks-background",
      output.background_function_arn == "arn:aws:lambda:eu-central-1:123456789012:function:snacks-background",
      output.table_name == "snacks",
      output.table_arn == "arn:aws:dynamodb:eu-central-1:123456789012:table/snacks",
      output.dead_letter_queue_url == "https://sqs.eu-central-1.amazonaws.com/123456789012/snacks-dead-letters",
      output.dead_letter_queue_arn == "arn:aws:sqs:eu-central-1:123456789012:snacks-dead-letters",
      output.timer_role_arn == "arn:aws:iam::123456789012:role/snacks-timers-eu-central-1",
      output.function_arn == aws_lambda_function.http.arn,
      output.http_role_arn == aws_iam_role.http.arn,
      output.background_role_arn == aws_iam_role.background[0].arn,
    ])
    error_message = "An output names something else."
  }
}
