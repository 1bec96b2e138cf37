# What each choice changes: secrets in the environment, no background, no timers, a domain, no alarms.

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
}

variables {
  name           = "snacks"
  zip_path       = "./tests/fixtures/package.zip"
  signing_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
}

run "secret_in_the_environment" {
  assert {
    condition     = aws_lambda_function.http.environment[0].variables["PUP_SIGNING_SECRET"] == "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    error_message = "The HTTP function must be given the secret."
  }
  assert {
    condition     = length([for name in keys(aws_lambda_function.http.environment[0].variables) : name if startswith(name, "PUP_SIGNING_SECRET")]) == 1
    error_message = "The HTTP function must be given one secret, outside of a rotation."
  }
  assert {
    condition     = length([for name in keys(aws_lambda_function.background[0].environment[0].variables) : name if strcontains(name, "SECRET")]) == 0
    error_message = "The background function must be given no secret."
  }
  assert {
    condition     = !strcontains(aws_iam_role_policy.http.policy, "secretsmanager:") && !strcontains(aws_iam_role_policy.http.policy, "kms:")
    error_message = "Without a secret in Secrets Manager nothing there may be read."
  }
}

run "rotation" {
  variables {
    signing_secret_previous       = "whsec_plJ3nmyCDGBKInavdOK15jsl3aXFzzyP"
    signing_secret_previous_until = 1767225600
  }
  assert {
    condition     = aws_lambda_function.http.environment[0].variables["PUP_SIGNING_SECRET_PREVIOUS"] == "whsec_plJ3nmyCDGBKInavdOK15jsl3aXFzzyP" && aws_lambda_function.http.environment[0].variables["PUP_SIGNING_SECRET_PREVIOUS_UNTIL"] == "1767225600"
    error_message = "During a rotation the HTTP function must be given the previous secret and its end."
  }
  assert {
    condition     = length([for name in keys(aws_lambda_function.background[0].environment[0].variables) : name if strcontains(name, "SECRET")]) == 0
    error_message = "The background function must be given no secret."
  }
}

run "no_timers" {
  assert {
    condition     = length(aws_iam_role.timers) == 0 && length(aws_iam_role_policy.timers) == 0 && length(aws_scheduler_schedule_group.this) == 0 && output.timer_role_arn == null
    error_message = "Without timers there must be nothing of the scheduler's."
  }
  assert {
    condition     = alltrue([for p in [aws_iam_role_policy.http, aws_iam_role_policy.background[0]] : !strcontains(p.policy, "scheduler:") && !strcontains(p.policy, "iam:")])
    error_message = "Without timers nobody may make schedules or pass roles."
  }
  assert {
    condition     = alltrue([for f in [aws_lambda_function.http, aws_lambda_function.background[0]] : length([for name in keys(f.environment[0].variables) : name if startswith(name, "PUP_TIMER")]) == 0])
    error_message = "Without timers the functions must not be told of any."
  }
  assert {
    condition     = !contains(keys(aws_lambda_function.background[0].environment[0].variables), "PUP_BACKGROUND_FUNCTION")
    error_message = "Only for timers is the background function told its own ARN."
  }
  assert {
    condition     = !aws_dynamodb_table.this.server_side_encryption[0].enabled
    error_message = "Without a key the table must use AWS's."
  }
  assert {
    condition     = !contains(keys(aws_lambda_function.http.environment[0].variables), "PUP_PUBLIC_URL")
    error_message = "Without a public URL the function must take its own."
  }
}

run "no_background" {
  variables {
    background = false
  }
  assert {
    condition     = length(aws_lambda_function.background) + length(aws_iam_role.background) + length(aws_iam_role_policy.background) + length(aws_cloudwatch_log_group.background) + length(aws_sqs_queue.dead_letters) + length(aws_lambda_function_event_invoke_config.background) == 0
    error_message = "Without a background there must be nothing of it."
  }
  assert {
    condition     = !contains(keys(aws_lambda_function.http.environment[0].variables), "PUP_BACKGROUND_FUNCTION") && !strcontains(aws_iam_role_policy.http.policy, "lambda:")
    error_message = "Without a background the HTTP function must not be told of one, nor may it invoke one."
  }
  assert {
    condition     = keys(aws_cloudwatch_metric_alarm.this) == ["http-duration", "http-errors", "http-throttles"]
    error_message = "Without a background only the HTTP function is watched."
  }
  assert {
    condition     = output.background_function_name == null && output.background_function_arn == null && output.dead_letter_queue_url == null && output.dead_letter_queue_arn == null && output.background_role_arn == null
    error_message = "Without a background its outputs must be null."
  }
}

run "other_sizes" {
  variables {
    architecture                    = "x86_64"
    http_memory                     = 512
    http_reserved_concurrency       = 20
    background_memory               = 1024
    background_timeout              = 60
    background_reserved_concurrency = 0
    background_maximum_event_age    = 60
    log_level                       = "debug"
    log_retention_days              = 7
    point_in_time_recovery          = false
    deletion_protection             = false
    tags                            = { team = "snacks" }
  }
  assert {
    condition     = aws_lambda_function.http.architectures == tolist(["x86_64"]) && aws_lambda_function.http.memory_size == 512 && aws_lambda_function.http.reserved_concurrent_executions == 20 && aws_lambda_function.http.timeout == 10
    error_message = "The HTTP function must be as told."
  }
  assert {
    condition     = aws_lambda_function.background[0].architectures == tolist(["x86_64"]) && aws_lambda_function.background[0].memory_size == 1024 && aws_lambda_function.background[0].reserved_concurrent_executions == 0 && aws_lambda_function.background[0].timeout == 60
    error_message = "The background function must be as told."
  }
  assert {
    condition     = aws_lambda_function_event_invoke_config.background[0].maximum_event_age_in_seconds == 60
    error_message = "Hand-overs must be tried for as long as told."
  }
  assert {
    condition     = alltrue([for f in [aws_lambda_function.http, aws_lambda_function.background[0]] : f.environment[0].variables["AWS_LAMBDA_LOG_LEVEL"] == "debug" && f.tags == tomap({ team = "snacks" })])
    error_message = "The functions must log and be tagged as told."
  }
  assert {
    condition     = aws_cloudwatch_log_group.http.retention_in_days == 7 && aws_cloudwatch_log_group.background[0].retention_in_days == 7
    error_message = "Logs must be kept for as long as told."
  }
  assert {
    condition     = !aws_dynamodb_table.this.point_in_time_recovery[0].enabled && !aws_dynamodb_table.this.deletion_protection_enabled
    error_message = "The table must be unprotected when told so."
  }
}

run "a_domain" {
  variables {
    public_url = "https://snacks.example.com/pup/"
  }
  assert {
    condition     = aws_lambda_function.http.environment[0].variables["PUP_PUBLIC_URL"] == "https://snacks.example.com/pup/" && output.manifest_url == "https://snacks.example.com/pup/manifest.json"
    error_message = "The manifest must be at the public URL."
  }
}

run "no_alarms" {
  variables {
    alarms = false
  }
  assert {
    condition     = length(aws_cloudwatch_metric_alarm.this) == 0
    error_message = "Without alarms there must be none."
  }
}
