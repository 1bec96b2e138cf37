locals {
  functions = merge(
    { http = local.http_name },
    var.background ? { background = local.background_name } : {},
  )

  # A run that meets another's live lease ends in an error and is tried again: one error in the background is no news.
  error_periods = { http = 1, background = 3 }

  alarm_definitions = merge(
    { for role, name in local.functions : "${role}-errors" => {
      description = "The ${role} function fails."
      namespace   = "AWS/Lambda"
      metric      = "Errors"
      dimensions  = { FunctionName = name }
      statistic   = "Sum"
      percentile  = null
      threshold   = 0
      periods     = local.error_periods[role]
    } },
    { for role, name in local.functions : "${role}-throttles" => {
      description = "Lambda refuses to start the ${role} function: its concurrency is used up."
      namespace   = "AWS/Lambda"
      metric      = "Throttles"
      dimensions  = { FunctionName = name }
      statistic   = "Sum"
      percentile  = null
      threshold   = 0
      periods     = 1
    } },
    { http-duration = {
      description = "Answers take over four seconds; pup waits five."
      namespace   = "AWS/Lambda"
      metric      = "Duration"
      dimensions  = { FunctionName = local.http_name }
      statistic   = null
      percentile  = "p99"
      threshold   = 4000
      periods     = 1
    } },
    { for role, name in local.functions : "${role}-dropped" => {
      description = "Lambda gave up hand-overs to the background."
      namespace   = "AWS/Lambda"
      metric      = "AsyncEventsDropped"
      dimensions  = { FunctionName = name }
      statistic   = "Sum"
      percentile  = null
      threshold   = 0
      periods     = 1
    } if role == "background" },
    { for queue in aws_sqs_queue.dead_letters[*].name : "dead-letters" => {
      description = "Hand-overs that failed for good are waiting in ${queue}."
      namespace   = "AWS/SQS"
      metric      = "ApproximateNumberOfMessagesVisible"
      dimensions  = { QueueName = queue }
      statistic   = "Maximum"
      percentile  = null
      threshold   = 0
      periods     = 1
    } },
  )
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = { for key, alarm in local.alarm_definitions : key => alarm if var.alarms }

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.description
  namespace           = each.value.namespace
  metric_name         = each.value.metric
  dimensions          = each.value.dimensions
  statistic           = each.value.statistic
  extended_statistic  = each.value.percentile
  comparison_operator = "GreaterThanThreshold"
  threshold           = each.value.threshold
  period              = 300
  evaluation_periods  = each.value.periods
  datapoints_to_alarm = each.value.periods
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags
}
