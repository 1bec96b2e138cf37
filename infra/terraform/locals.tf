data "aws_caller_identity" "current" {}

data "aws_partition" "current" {}

data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.region

  # Roles are global: the region in their names lets one name be deployed in several regions.
  http_name       = "${var.name}-http"
  background_name = "${var.name}-background"
  timer_name      = "${var.name}-timers"

  # Written out, since the background function's own role and environment need it before the function exists.
  background_arn = "arn:${local.partition}:lambda:${local.region}:${local.account}:function:${local.background_name}"
}
