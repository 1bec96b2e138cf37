# A failing case for each validation.

mock_provider "aws" {
  mock_data "aws_caller_identity" {
    defaults = { account_id = "123456789012" }
  }
  mock_data "aws_region" {
    defaults = { region = "eu-central-1" }
  }
}

variables {
  name           = "snacks"
  zip_path       = "./tests/fixtures/package.zip"
  signing_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
}

run "name_with_capitals" {
  command = plan
  variables {
    name = "Snacks"
  }
  expect_failures = [var.name]
}

run "name_too_long" {
  command = plan
  variables {
    name = "snacks-snacks-snacks-snacks-snack"
  }
  expect_failures = [var.name]
}

run "name_ending_in_a_hyphen" {
  command = plan
  variables {
    name = "snacks-"
  }
  expect_failures = [var.name]
}

run "package_of_another_kind" {
  command = plan
  variables {
    zip_path = "./versions.tf"
  }
  expect_failures = [var.zip_path]
}

run "package_that_is_not_there" {
  command = plan
  variables {
    zip_path = "./nothing.zip"
  }
  expect_failures = [var.zip_path]
}

run "architecture" {
  command = plan
  variables {
    architecture = "arm"
  }
  expect_failures = [var.architecture]
}

run "http_memory_too_small" {
  command = plan
  variables {
    http_memory = 64
  }
  expect_failures = [var.http_memory]
}

run "http_memory_too_large" {
  command = plan
  variables {
    http_memory = 10241
  }
  expect_failures = [var.http_memory]
}

run "http_memory_broken" {
  command = plan
  variables {
    http_memory = 128.5
  }
  expect_failures = [var.http_memory]
}

run "http_reserved_concurrency" {
  command = plan
  variables {
    http_reserved_concurrency = -2
  }
  expect_failures = [var.http_reserved_concurrency]
}

run "background_memory_too_small" {
  command = plan
  variables {
    background_memory = 127
  }
  expect_failures = [var.background_memory]
}

run "background_memory_too_large" {
  command = plan
  variables {
    background_memory = 10241
  }
  expect_failures = [var.background_memory]
}

run "background_timeout_too_short" {
  command = plan
  variables {
    background_timeout = 59
  }
  expect_failures = [var.background_timeout]
}

run "background_timeout_too_long" {
  command = plan
  variables {
    background_timeout = 901
  }
  expect_failures = [var.background_timeout]
}

run "background_reserved_concurrency" {
  command = plan
  variables {
    background_reserved_concurrency = 1.5
  }
  expect_failures = [var.background_reserved_concurrency]
}

run "event_age_too_short" {
  command = plan
  variables {
    background_maximum_event_age = 59
  }
  expect_failures = [var.background_maximum_event_age]
}

run "event_age_too_long" {
  command = plan
  variables {
    background_maximum_event_age = 21601
  }
  expect_failures = [var.background_maximum_event_age]
}

run "timers_without_a_background" {
  command = plan
  variables {
    background = false
    timers     = true
  }
  expect_failures = [var.timers]
}

run "no_secret" {
  command = plan
  variables {
    signing_secret = null
  }
  expect_failures = [var.signing_secret]
}

run "two_secrets" {
  command = plan
  variables {
    signing_secret_arn = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:snacks-AbCdEf"
  }
  expect_failures = [var.signing_secret]
}

run "short_secret" {
  command = plan
  variables {
    signing_secret = "whsec_dG9vIHNob3J0"
  }
  expect_failures = [var.signing_secret]
}

run "empty_secret" {
  command = plan
  variables {
    signing_secret = ""
  }
  expect_failures = [var.signing_secret]
}

run "key_of_another_kind" {
  command = plan
  variables {
    signing_secret = "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  }
  expect_failures = [var.signing_secret]
}

run "short_previous_secret" {
  command = plan
  variables {
    signing_secret_previous       = "whsec_dG9vIHNob3J0"
    signing_secret_previous_until = 1767225600
  }
  expect_failures = [var.signing_secret_previous]
}

run "previous_secret_without_an_end" {
  command = plan
  variables {
    signing_secret_previous = "whsec_plJ3nmyCDGBKInavdOK15jsl3aXFzzyP"
  }
  expect_failures = [var.signing_secret_previous]
}

run "end_without_a_previous_secret" {
  command = plan
  variables {
    signing_secret_previous_until = 1767225600
  }
  expect_failures = [var.signing_secret_previous]
}

run "previous_secret_with_an_arn" {
  command = plan
  variables {
    signing_secret                = null
    signing_secret_arn            = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:snacks-AbCdEf"
    signing_secret_previous       = "whsec_plJ3nmyCDGBKInavdOK15jsl3aXFzzyP"
    signing_secret_previous_until = 1767225600
  }
  expect_failures = [var.signing_secret_previous]
}

run "end_in_milliseconds" {
  command = plan
  variables {
    signing_secret_previous       = "whsec_plJ3nmyCDGBKInavdOK15jsl3aXFzzyP"
    signing_secret_previous_until = 1767225600000
  }
  expect_failures = [var.signing_secret_previous_until]
}

run "secret_arn_of_another_service" {
  command = plan
  variables {
    signing_secret     = null
    signing_secret_arn = "arn:aws:ssm:eu-central-1:123456789012:parameter/snacks"
  }
  expect_failures = [var.signing_secret_arn]
}

run "secret_arn_with_a_wildcard" {
  command = plan
  variables {
    signing_secret     = null
    signing_secret_arn = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:*"
  }
  expect_failures = [var.signing_secret_arn]
}

run "secret_key_by_alias" {
  command = plan
  variables {
    signing_secret             = null
    signing_secret_arn         = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:snacks-AbCdEf"
    signing_secret_kms_key_arn = "arn:aws:kms:eu-central-1:123456789012:alias/snacks"
  }
  expect_failures = [var.signing_secret_kms_key_arn]
}

run "secret_key_without_a_secret_arn" {
  command = plan
  variables {
    signing_secret_kms_key_arn = "arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
  }
  expect_failures = [var.signing_secret_kms_key_arn]
}

run "public_url_without_tls" {
  command = plan
  variables {
    public_url = "http://snacks.example.com"
  }
  expect_failures = [var.public_url]
}

run "public_url_with_credentials" {
  command = plan
  variables {
    public_url = "https://a:b@snacks.example.com"
  }
  expect_failures = [var.public_url]
}

run "public_url_with_a_query" {
  command = plan
  variables {
    public_url = "https://snacks.example.com/?a=b"
  }
  expect_failures = [var.public_url]
}

run "environment_aws_lambda_log_level" {
  command = plan
  variables {
    environment = { AWS_LAMBDA_LOG_LEVEL = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_pup_background_function" {
  command = plan
  variables {
    environment = { PUP_BACKGROUND_FUNCTION = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_pup_public_url" {
  command = plan
  variables {
    environment = { PUP_PUBLIC_URL = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_pup_role" {
  command = plan
  variables {
    environment = { PUP_ROLE = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_pup_signing_secret" {
  command = plan
  variables {
    environment = { PUP_SIGNING_SECRET = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_pup_signing_secret_arn" {
  command = plan
  variables {
    environment = { PUP_SIGNING_SECRET_ARN = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_pup_signing_secret_previous" {
  command = plan
  variables {
    environment = { PUP_SIGNING_SECRET_PREVIOUS = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_pup_signing_secret_previous_until" {
  command = plan
  variables {
    environment = { PUP_SIGNING_SECRET_PREVIOUS_UNTIL = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_pup_table" {
  command = plan
  variables {
    environment = { PUP_TABLE = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_pup_timer_group" {
  command = plan
  variables {
    environment = { PUP_TIMER_GROUP = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_pup_timer_role_arn" {
  command = plan
  variables {
    environment = { PUP_TIMER_ROLE_ARN = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_of_lambdas_own" {
  command = plan
  variables {
    environment = { AWS_REGION = "x" }
  }
  expect_failures = [var.environment]
}

run "environment_with_a_bad_name" {
  command = plan
  variables {
    environment = { "SNACK-MENU" = "x" }
  }
  expect_failures = [var.environment]
}

run "log_level" {
  command = plan
  variables {
    log_level = "verbose"
  }
  expect_failures = [var.log_level]
}

run "log_retention_days" {
  command = plan
  variables {
    log_retention_days = 31
  }
  expect_failures = [var.log_retention_days]
}

run "log_retention_for_ever" {
  command = plan
  variables {
    log_retention_days = 0
  }
  expect_failures = [var.log_retention_days]
}

run "table_key_by_id" {
  command = plan
  variables {
    table_kms_key_arn = "1234abcd-12ab-34cd-56ef-1234567890ab"
  }
  expect_failures = [var.table_kms_key_arn]
}

run "alarm_actions" {
  command = plan
  variables {
    alarm_actions = ["team@example.com"]
  }
  expect_failures = [var.alarm_actions]
}

run "tags_of_awss_own" {
  command = plan
  variables {
    tags = { "aws:cloudformation:stack-name" = "x" }
  }
  expect_failures = [var.tags]
}
