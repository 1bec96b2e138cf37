output "manifest_url" {
  description = "The URL to give to pup."
  value       = "${trimsuffix(var.public_url == null ? aws_lambda_function_url.http.function_url : var.public_url, "/")}/manifest.json"
}

output "function_url" {
  description = "The HTTP function's own URL."
  value       = aws_lambda_function_url.http.function_url
}

output "function_name" {
  description = "The HTTP function's name."
  value       = aws_lambda_function.http.function_name
}

output "function_arn" {
  description = "The HTTP function's ARN."
  value       = aws_lambda_function.http.arn
}

output "background_function_name" {
  description = "The background function's name; null without one."
  value       = one(aws_lambda_function.background[*].function_name)
}

output "background_function_arn" {
  description = "The background function's ARN; null without one."
  value       = one(aws_lambda_function.background[*].arn)
}

output "table_name" {
  description = "The table's name."
  value       = aws_dynamodb_table.this.name
}

output "table_arn" {
  description = "The table's ARN."
  value       = aws_dynamodb_table.this.arn
}

output "dead_letter_queue_url" {
  description = "The queue of hand-overs that failed for good; null without a background function."
  value       = one(aws_sqs_queue.dead_letters[*].url)
}

output "dead_letter_queue_arn" {
  description = "That queue's ARN; null without a background function."
  value       = one(aws_sqs_queue.dead_letters[*].arn)
}

output "http_role_arn" {
  description = "The HTTP function's role."
  value       = aws_iam_role.http.arn
}

output "background_role_arn" {
  description = "The background function's role; null without one."
  value       = one(aws_iam_role.background[*].arn)
}

output "timer_role_arn" {
  description = "The role that timers start the background function with; null without timers."
  value       = one(aws_iam_role.timers[*].arn)
}
