"""Resource policies: named limits of keypairs, users and projects. Usage belongs to `queue`."""
