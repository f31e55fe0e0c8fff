# Login shells start from /etc/profile, which sets PATH anew: put the user's environment back in front.
PATH="/opt/venv/bin:$HOME/.local/bin:$PATH"
export PATH VIRTUAL_ENV=/opt/venv LANG="${LANG:-C.UTF-8}"
for name in SSL_CERT_FILE REQUESTS_CA_BUNDLE PIP_CERT NODE_EXTRA_CA_CERTS; do
    eval "export $name=\"\${$name:-/etc/ssl/certs/ca-certificates.crt}\""
done
unset name
