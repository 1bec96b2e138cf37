# Everything the module offers, in one deployment. The package comes from `cargo lambda build --release --arm64
# --output-format zip`.

terraform {
  required_version = ">= 1.9"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.29, < 7.0"
    }
  }
}

provider "aws" {
  region = var.region
}

variable "region" {
  description = "Where to deploy."
  type        = string
  default     = "eu-central-1"
}

variable "zip_path" {
  description = "The package."
  type        = string
}

variable "alarm_email" {
  description = "Who is told of alarms."
  type        = string
}

# Its value is set apart from Terraform, so that no state holds it:
# aws secretsmanager put-secret-value --secret-id snack-club/signing --secret-string whsec_…
resource "aws_secretsmanager_secret" "signing" {
  name        = "snack-club/signing"
  description = "What pup signs its requests to snack-club with"
}

resource "aws_sns_topic" "alarms" {
  name = "snack-club-alarms"
}

resource "aws_sns_topic_subscription" "alarms" {
  topic_arn = aws_sns_topic.alarms.arn
  protocol  = "email"
  endpoint  = var.alarm_email
}

module "snack_club" {
  source = "../.."

  name               = "snack-club"
  zip_path           = var.zip_path
  signing_secret_arn = aws_secretsmanager_secret.signing.arn

  timers                    = true
  http_memory               = 512
  http_reserved_concurrency = 50
  log_level                 = "info"
  log_retention_days        = 90
  environment               = { SNACK_MENU = "autumn" }
  alarm_actions             = [aws_sns_topic.alarms.arn]
  tags                      = { project = "snack-club" }
}

output "manifest_url" {
  description = "The URL to give to pup."
  value       = module.snack_club.manifest_url
}
