# Whoever knows the URL reaches the function: it is the signature that the function checks.
resource "aws_lambda_function_url" "http" {
  function_name      = aws_lambda_function.http.function_name
  authorization_type = "NONE"
  invoke_mode        = "BUFFERED"
}

# A URL that is open to all needs both of these. The provider adds statements like them by itself under names of its
# own ("FunctionURLAllow…") and doesn't keep track of them; these are declared, so that a plan shows when they are gone.
resource "aws_lambda_permission" "url" {
  statement_id           = "PupInvokeFunctionUrl"
  function_name          = aws_lambda_function.http.function_name
  action                 = "lambda:InvokeFunctionUrl"
  principal              = "*"
  function_url_auth_type = "NONE"
}

resource "aws_lambda_permission" "via_url" {
  statement_id             = "PupInvokeFunctionViaUrl"
  function_name            = aws_lambda_function.http.function_name
  action                   = "lambda:InvokeFunction"
  principal                = "*"
  invoked_via_function_url = true
}
