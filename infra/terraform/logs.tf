resource "aws_cloudwatch_log_group" "http" {
  name              = "/aws/lambda/${local.http_name}"
  retention_in_days = var.log_retention_days
  tags              = var.tags
}

resource "aws_cloudwatch_log_group" "background" {
  count = var.background ? 1 : 0

  name              = "/aws/lambda/${local.background_name}"
  retention_in_days = var.log_retention_days
  tags              = var.tags
}
