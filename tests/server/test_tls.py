"""With a certificate the server speaks TLS, and nothing else."""

import ssl
import urllib.request
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from live import Live


def self_signed(folder):
    """Return a certificate for this machine and its key, as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    files = folder / "certificate.pem", folder / "key.pem"
    for file, content in zip(files, (made.public_bytes(pem), private), strict=True):
        file.write_bytes(content)
    return files


def test_an_encrypted_line(place, tmp_path):
    """Who trusts the certificate gets in and is told to stay encrypted; others and plain requests do not."""
    certificate, key = self_signed(tmp_path)
    with Live(place, workers=0, tls_certificate=str(certificate), tls_key=str(key)) as live:
        assert live.url.startswith("https://")
        trusting = ssl.create_default_context(cafile=certificate)
        with urllib.request.urlopen(f"{live.url}/login", context=trusting) as answer:  # noqa: S310
            assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
        for address in (live.url, live.url.replace("https", "http")):
            with pytest.raises(OSError, match=r"CERTIFICATE_VERIFY_FAILED|reset|closed|disconnected"):
                urllib.request.urlopen(f"{address}/login")  # noqa: S310
