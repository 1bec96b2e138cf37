locals {
  assume_by_lambda = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })

  statements_both = concat(
    [{
      Sid    = "Table"
      Effect = "Allow"
      Action = [
        "dynamodb:ConditionCheckItem",
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
      ]
      Resource = [aws_dynamodb_table.this.arn]
    }],
    # DynamoDB opens a table's own key in the name of who asks.
    [for key in var.table_kms_key_arn[*] : {
      Sid      = "TableKey"
      Effect   = "Allow"
      Action   = ["kms:Decrypt"]
      Resource = [key]
      Condition = {
        StringEquals = { "kms:ViaService" = "dynamodb.${local.region}.${data.aws_partition.current.dns_suffix}" }
      }
    }],
    [for arn in(var.background ? [local.background_arn] : []) : {
      Sid      = "Background"
      Effect   = "Allow"
      Action   = ["lambda:InvokeFunction"]
      Resource = [arn]
    }],
    [for group in aws_scheduler_schedule_group.this[*].name : {
      Sid      = "Timers"
      Effect   = "Allow"
      Action   = ["scheduler:CreateSchedule"]
      Resource = ["arn:${local.partition}:scheduler:${local.region}:${local.account}:schedule/${group}/*"]
    }],
    [for role in aws_iam_role.timers[*].arn : {
      Sid      = "TimerRole"
      Effect   = "Allow"
      Action   = ["iam:PassRole"]
      Resource = [role]
      Condition = {
        StringEquals = { "iam:PassedToService" = "scheduler.amazonaws.com" }
      }
    }],
  )
}

resource "aws_iam_role" "http" {
  name               = "${local.http_name}-${local.region}"
  description        = "pup extension ${var.name}: its HTTP function"
  assume_role_policy = local.assume_by_lambda
  tags               = var.tags
}

resource "aws_iam_role_policy" "http" {
  name = "run"
  role = aws_iam_role.http.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      local.statements_both,
      [{
        Sid      = "Logs"
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = ["${aws_cloudwatch_log_group.http.arn}:*"]
      }],
      [for arn in var.signing_secret_arn[*] : {
        Sid      = "SigningSecret"
        Effect   = "Allow"
        Action   = ["secretsmanager:GetSecretValue"]
        Resource = [arn]
      }],
      [for key in var.signing_secret_kms_key_arn[*] : {
        Sid      = "SigningSecretKey"
        Effect   = "Allow"
        Action   = ["kms:Decrypt"]
        Resource = [key]
        Condition = {
          StringEquals = { "kms:ViaService" = "secretsmanager.${local.region}.${data.aws_partition.current.dns_suffix}" }
        }
      }],
    )
  })
}

resource "aws_iam_role" "background" {
  count = var.background ? 1 : 0

  name               = "${local.background_name}-${local.region}"
  description        = "pup extension ${var.name}: its background function"
  assume_role_policy = local.assume_by_lambda
  tags               = var.tags
}

resource "aws_iam_role_policy" "background" {
  count = var.background ? 1 : 0

  name = "run"
  role = aws_iam_role.background[0].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      local.statements_both,
      [
        {
          Sid      = "Logs"
          Effect   = "Allow"
          Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
          Resource = ["${aws_cloudwatch_log_group.background[0].arn}:*"]
        },
        {
          Sid      = "DeadLetters"
          Effect   = "Allow"
          Action   = ["sqs:SendMessage"]
          Resource = [aws_sqs_queue.dead_letters[0].arn]
        },
      ],
    )
  })
}
