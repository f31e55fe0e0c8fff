"""Resource policies: named limits of keypairs, users and projects. What they hold now is the scheduler's to say."""
