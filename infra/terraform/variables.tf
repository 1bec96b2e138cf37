variable "name" {
  description = "What everything is named after."
  type        = string
  nullable    = false

  validation {
    # The longest name made of it is a role's: 64 characters, with the role and the region in it.
    condition     = can(regex("^[a-z][a-z0-9-]{1,30}[a-z0-9]$", var.name))
    error_message = "name must have 3 to 32 lower-case letters, digits and hyphens, begin with a letter and not end with a hyphen."
  }
}

variable "zip_path" {
  description = "The package: a zip with `bootstrap`. Both functions are made of it."
  type        = string
  nullable    = false

  validation {
    condition     = endswith(var.zip_path, ".zip") && fileexists(var.zip_path)
    error_message = "zip_path must name a .zip file that exists: build the package first."
  }
}

variable "architecture" {
  description = "What the package was built for: `arm64` or `x86_64`."
  type        = string
  default     = "arm64"
  nullable    = false

  validation {
    condition     = contains(["arm64", "x86_64"], var.architecture)
    error_message = "architecture must be arm64 or x86_64."
  }
}

variable "http_memory" {
  description = "The HTTP function's memory in MB; its share of a processor grows with it."
  type        = number
  default     = 256
  nullable    = false

  validation {
    condition     = var.http_memory >= 128 && var.http_memory <= 10240 && floor(var.http_memory) == var.http_memory
    error_message = "http_memory must be a whole number from 128 to 10240."
  }
}

variable "http_reserved_concurrency" {
  description = "How many of the HTTP function may run at once; -1 for no limit of its own, 0 to stop it."
  type        = number
  default     = -1
  nullable    = false

  validation {
    condition     = var.http_reserved_concurrency >= -1 && floor(var.http_reserved_concurrency) == var.http_reserved_concurrency
    error_message = "http_reserved_concurrency must be a whole number, -1 or more."
  }
}

variable "background" {
  description = "Whether there is a background function. Tasks need one."
  type        = bool
  default     = true
  nullable    = false
}

variable "background_memory" {
  description = "The background function's memory in MB."
  type        = number
  default     = 256
  nullable    = false

  validation {
    condition     = var.background_memory >= 128 && var.background_memory <= 10240 && floor(var.background_memory) == var.background_memory
    error_message = "background_memory must be a whole number from 128 to 10240."
  }
}

variable "background_timeout" {
  description = "How many seconds one run in the background may take; a longer task goes on in the next."
  type        = number
  default     = 900
  nullable    = false

  validation {
    condition     = var.background_timeout >= 60 && var.background_timeout <= 900 && floor(var.background_timeout) == var.background_timeout
    error_message = "background_timeout must be a whole number from 60 to 900."
  }
}

variable "background_reserved_concurrency" {
  description = "How many of the background function may run at once; -1 for no limit of its own, 0 to stop it."
  type        = number
  default     = -1
  nullable    = false

  validation {
    condition     = var.background_reserved_concurrency >= -1 && floor(var.background_reserved_concurrency) == var.background_reserved_concurrency
    error_message = "background_reserved_concurrency must be a whole number, -1 or more."
  }
}

variable "background_maximum_event_age" {
  description = "For how many seconds Lambda tries to hand a task over before it becomes a dead letter."
  type        = number
  default     = 21600
  nullable    = false

  validation {
    condition     = var.background_maximum_event_age >= 60 && var.background_maximum_event_age <= 21600 && floor(var.background_maximum_event_age) == var.background_maximum_event_age
    error_message = "background_maximum_event_age must be a whole number from 60 to 21600."
  }
}

variable "timers" {
  description = "Whether pauses of tasks end by EventBridge Scheduler; without it they end with pup's next poll."
  type        = bool
  default     = false
  nullable    = false

  validation {
    condition     = !var.timers || var.background
    error_message = "timers start the background function: they need background = true."
  }
}

variable "signing_secret" {
  description = "The secret that pup signs with. It then stands in Terraform's state and in the function's environment; `signing_secret_arn` avoids both."
  type        = string
  default     = null
  sensitive   = true

  validation {
    condition     = var.signing_secret == null || can(regex("^((v1,)?whsec_)?[A-Za-z0-9+/]{32,86}={0,2}$", var.signing_secret))
    error_message = "signing_secret must be whsec_… with 24 to 64 bytes in base64."
  }

  validation {
    condition     = (var.signing_secret == null) != (var.signing_secret_arn == null)
    error_message = "Set exactly one of signing_secret and signing_secret_arn."
  }
}

variable "signing_secret_previous" {
  description = "During a rotation, the secret before `signing_secret`."
  type        = string
  default     = null
  sensitive   = true

  validation {
    condition     = var.signing_secret_previous == null || can(regex("^((v1,)?whsec_)?[A-Za-z0-9+/]{32,86}={0,2}$", var.signing_secret_previous))
    error_message = "signing_secret_previous must be whsec_… with 24 to 64 bytes in base64."
  }

  validation {
    condition     = var.signing_secret_previous == null || var.signing_secret != null
    error_message = "signing_secret_previous goes with signing_secret; a secret in Secrets Manager keeps its previous one itself."
  }

  validation {
    condition     = (var.signing_secret_previous == null) == (var.signing_secret_previous_until == null)
    error_message = "signing_secret_previous and signing_secret_previous_until go together: set both or neither."
  }
}

variable "signing_secret_previous_until" {
  description = "When the previous secret ends, in Unix seconds."
  type        = number
  default     = null

  validation {
    # Later ones are taken for milliseconds.
    condition     = var.signing_secret_previous_until == null || try(var.signing_secret_previous_until > 0 && var.signing_secret_previous_until < 100000000000 && floor(var.signing_secret_previous_until) == var.signing_secret_previous_until, false)
    error_message = "signing_secret_previous_until must be a time in whole Unix seconds, not milliseconds."
  }
}

variable "signing_secret_arn" {
  description = "The secret in Secrets Manager that holds what pup signs with: its current and its previous version are the two of a rotation."
  type        = string
  default     = null

  validation {
    condition     = var.signing_secret_arn == null || can(regex("^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+$", var.signing_secret_arn))
    error_message = "signing_secret_arn must be the ARN of a secret in Secrets Manager."
  }
}

variable "signing_secret_kms_key_arn" {
  description = "The key of your own that the secret in Secrets Manager is encrypted with, if it is."
  type        = string
  default     = null

  validation {
    condition     = var.signing_secret_kms_key_arn == null || can(regex("^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$", var.signing_secret_kms_key_arn))
    error_message = "signing_secret_kms_key_arn must be the ARN of a KMS key, not of an alias."
  }

  validation {
    condition     = var.signing_secret_kms_key_arn == null || var.signing_secret_arn != null
    error_message = "signing_secret_kms_key_arn goes with signing_secret_arn."
  }
}

variable "public_url" {
  description = "The base of the manifest's URLs, where it is not the function's own URL: a domain in front of it."
  type        = string
  default     = null

  validation {
    condition     = var.public_url == null || can(regex("^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[^?#[:space:]]*)?$", var.public_url))
    error_message = "public_url must be an https URL with a host, and without credentials, query or fragment."
  }
}

variable "environment" {
  description = "More environment variables, for both functions. They are not secret."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition = length(setintersection(keys(var.environment), [
      "AWS_LAMBDA_LOG_LEVEL",
      "PUP_BACKGROUND_FUNCTION",
      "PUP_PUBLIC_URL",
      "PUP_ROLE",
      "PUP_SIGNING_SECRET",
      "PUP_SIGNING_SECRET_ARN",
      "PUP_SIGNING_SECRET_PREVIOUS",
      "PUP_SIGNING_SECRET_PREVIOUS_UNTIL",
      "PUP_TABLE",
      "PUP_TIMER_GROUP",
      "PUP_TIMER_ROLE_ARN",
    ])) == 0
    error_message = "environment must not set AWS_LAMBDA_LOG_LEVEL or a PUP_… variable that the module sets: use the inputs for these."
  }

  validation {
    condition     = alltrue([for name in keys(var.environment) : can(regex("^[A-Za-z][A-Za-z0-9_]+$", name))])
    error_message = "environment's names must have two or more letters, digits and underscores, and begin with a letter."
  }

  validation {
    condition = length(setintersection(keys(var.environment), [
      "AWS_ACCESS_KEY",
      "AWS_ACCESS_KEY_ID",
      "AWS_DEFAULT_REGION",
      "AWS_EXECUTION_ENV",
      "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
      "AWS_LAMBDA_FUNCTION_NAME",
      "AWS_LAMBDA_FUNCTION_VERSION",
      "AWS_LAMBDA_INITIALIZATION_TYPE",
      "AWS_LAMBDA_LOG_GROUP_NAME",
      "AWS_LAMBDA_LOG_STREAM_NAME",
      "AWS_LAMBDA_RUNTIME_API",
      "AWS_REGION",
      "AWS_SECRET_ACCESS_KEY",
      "AWS_SESSION_TOKEN",
      "LAMBDA_RUNTIME_DIR",
      "LAMBDA_TASK_ROOT",
    ])) == 0
    error_message = "environment must not set a variable that Lambda keeps for itself."
  }
}

variable "log_level" {
  description = "What the functions log: `trace`, `debug`, `info`, `warn` or `error`."
  type        = string
  default     = "info"
  nullable    = false

  validation {
    condition     = contains(["trace", "debug", "info", "warn", "error"], var.log_level)
    error_message = "log_level must be trace, debug, info, warn or error."
  }
}

variable "log_retention_days" {
  description = "For how many days logs are kept."
  type        = number
  default     = 30
  nullable    = false

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_retention_days)
    error_message = "log_retention_days must be a number of days that CloudWatch knows: 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731 or a number of years up to ten (1096 to 3653)."
  }
}

variable "point_in_time_recovery" {
  description = "Whether the table can be restored to any second of the last 35 days."
  type        = bool
  default     = true
  nullable    = false
}

variable "deletion_protection" {
  description = "Whether the table refuses to be deleted. Turn it off, and apply, before you destroy."
  type        = bool
  default     = true
  nullable    = false
}

variable "table_kms_key_arn" {
  description = "A KMS key of your own for the table; without one, a key of AWS's."
  type        = string
  default     = null

  validation {
    condition     = var.table_kms_key_arn == null || can(regex("^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$", var.table_kms_key_arn))
    error_message = "table_kms_key_arn must be the ARN of a KMS key, not of an alias."
  }
}

variable "alarms" {
  description = "Whether there are alarms."
  type        = bool
  default     = true
  nullable    = false
}

variable "alarm_actions" {
  description = "ARNs (of SNS topics, for one) that are told when an alarm begins and ends."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for arn in var.alarm_actions : can(regex("^arn:aws[a-z-]*:", arn))])
    error_message = "alarm_actions must be ARNs."
  }
}

variable "tags" {
  description = "Tags of everything that takes tags."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for key in keys(var.tags) : length(key) >= 1 && length(key) <= 128 && !startswith(lower(key), "aws:")])
    error_message = "tags' keys must have 1 to 128 characters and not begin with aws:."
  }
}
