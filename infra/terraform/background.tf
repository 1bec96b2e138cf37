# What Lambda does with a hand-over that fails: again twice, then into the queue, where a person looks.
resource "aws_lambda_function_event_invoke_config" "background" {
  count = var.background ? 1 : 0

  function_name                = aws_lambda_function.background[0].function_name
  maximum_retry_attempts       = 2
  maximum_event_age_in_seconds = var.background_maximum_event_age

  destination_config {
    on_failure {
      destination = aws_sqs_queue.dead_letters[0].arn
    }
  }
}

resource "aws_sqs_queue" "dead_letters" {
  count = var.background ? 1 : 0

  name                      = "${var.name}-dead-letters"
  message_retention_seconds = 14 * 24 * 60 * 60
  sqs_managed_sse_enabled   = true
  tags                      = var.tags
}
