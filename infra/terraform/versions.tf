terraform {
  # Validations that look at other variables: 1.9.
  required_version = ">= 1.9"

  required_providers {
    aws = {
      source = "hashicorp/aws"
      # `invoked_via_function_url` of aws_lambda_permission: 6.29.
      version = ">= 6.29, < 7.0"
    }
  }
}
