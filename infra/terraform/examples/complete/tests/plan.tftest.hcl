# A first plan, where the secret's ARN and most others are not known yet.

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

run "first_plan" {
  command = plan

  variables {
    zip_path    = "../../tests/fixtures/package.zip"
    alarm_email = "team@example.com"
  }

  assert {
    condition     = module.snack_club.function_name == "snack-club-http" && module.snack_club.background_function_name == "snack-club-background"
    error_message = "The example must make both functions."
  }
}
