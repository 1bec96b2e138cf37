# One-time schedules are made by the functions, in a group of their own, and delete themselves.
resource "aws_scheduler_schedule_group" "this" {
  count = var.timers ? 1 : 0

  name = local.timer_name
  tags = var.tags
}

resource "aws_iam_role" "timers" {
  count = var.timers ? 1 : 0

  name        = "${local.timer_name}-${local.region}"
  description = "pup extension ${var.name}: lets its timers start the background function"
  tags        = var.tags

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "scheduler.amazonaws.com" }
      Condition = {
        StringEquals = {
          "aws:SourceAccount" = local.account
          "aws:SourceArn"     = aws_scheduler_schedule_group.this[0].arn
        }
      }
    }]
  })
}

resource "aws_iam_role_policy" "timers" {
  count = var.timers ? 1 : 0

  name = "invoke-background"
  role = aws_iam_role.timers[0].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "InvokeBackground"
      Effect   = "Allow"
      Action   = ["lambda:InvokeFunction"]
      Resource = [local.background_arn]
    }]
  })
}
