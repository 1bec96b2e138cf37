locals {
  environment_both = merge(
    var.environment,
    {
      PUP_TABLE            = aws_dynamodb_table.this.name
      AWS_LAMBDA_LOG_LEVEL = var.log_level
    },
    var.timers ? {
      PUP_TIMER_ROLE_ARN = one(aws_iam_role.timers[*].arn)
      PUP_TIMER_GROUP    = one(aws_scheduler_schedule_group.this[*].name)
    } : {},
  )

  # Whether a secret is set is no secret; what it is stays marked.
  environment_secret = merge(
    nonsensitive(var.signing_secret == null) ? {} : { PUP_SIGNING_SECRET = var.signing_secret },
    nonsensitive(var.signing_secret_previous == null) ? {} : { PUP_SIGNING_SECRET_PREVIOUS = var.signing_secret_previous },
    var.signing_secret_previous_until == null ? {} : { PUP_SIGNING_SECRET_PREVIOUS_UNTIL = tostring(var.signing_secret_previous_until) },
    var.signing_secret_arn == null ? {} : { PUP_SIGNING_SECRET_ARN = var.signing_secret_arn },
  )
}

resource "aws_lambda_function" "http" {
  function_name    = local.http_name
  description      = "pup extension ${var.name}: answers pup's requests"
  role             = aws_iam_role.http.arn
  filename         = var.zip_path
  source_code_hash = filebase64sha256(var.zip_path)
  runtime          = "provided.al2023"
  handler          = "bootstrap"
  architectures    = [var.architecture]
  memory_size      = var.http_memory
  # pup waits five seconds; what is beyond them is room to end in order.
  timeout                        = 10
  reserved_concurrent_executions = var.http_reserved_concurrency
  tags                           = var.tags

  environment {
    variables = merge(
      local.environment_both,
      local.environment_secret,
      { PUP_ROLE = "http" },
      var.background ? { PUP_BACKGROUND_FUNCTION = one(aws_lambda_function.background[*].arn) } : {},
      var.public_url == null ? {} : { PUP_PUBLIC_URL = var.public_url },
    )
  }

  logging_config {
    log_format = "Text"
    log_group  = aws_cloudwatch_log_group.http.name
  }

  depends_on = [aws_iam_role_policy.http]
}

resource "aws_lambda_function" "background" {
  count = var.background ? 1 : 0

  function_name                  = local.background_name
  description                    = "pup extension ${var.name}: runs its tasks"
  role                           = aws_iam_role.background[0].arn
  filename                       = var.zip_path
  source_code_hash               = filebase64sha256(var.zip_path)
  runtime                        = "provided.al2023"
  handler                        = "bootstrap"
  architectures                  = [var.architecture]
  memory_size                    = var.background_memory
  timeout                        = var.background_timeout
  reserved_concurrent_executions = var.background_reserved_concurrency
  tags                           = var.tags

  environment {
    # No signing secret: nothing signed comes here.
    variables = merge(
      local.environment_both,
      { PUP_ROLE = "background" },
      # A timer of its own aims at itself.
      var.timers ? { PUP_BACKGROUND_FUNCTION = local.background_arn } : {},
    )
  }

  logging_config {
    log_format = "Text"
    log_group  = aws_cloudwatch_log_group.background[0].name
  }

  depends_on = [aws_iam_role_policy.background]
}
