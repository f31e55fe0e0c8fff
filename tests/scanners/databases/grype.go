// Writes a database of Grype with one vulnerability in Debian's tar into a folder.
package main

import (
	"os"
	"time"

	v6 "github.com/anchore/grype/grype/db/v6"
)

const (
	name   = "CVE-2026-0001"
	vector = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:N"
)

func main() {
	writer, err := v6.NewWriter(v6.Config{DBDirPath: os.Args[1]})
	must(err)
	now := time.Now()
	must(writer.SetDBMetadata())
	provider := v6.Provider{
		ID: "debian", Version: "1", Processor: "test", DateCaptured: &now, InputDigest: "sha256:0",
	}
	must(writer.AddProvider(provider))
	vulnerability := &v6.VulnerabilityHandle{
		Name: name, Status: "active", ProviderID: provider.ID, Provider: &provider,
		BlobValue: &v6.VulnerabilityBlob{
			ID:          name,
			Description: "tar reads too far.",
			References:  []v6.Reference{{URL: "https://security-tracker.debian.org/tracker/" + name}},
			Severities: []v6.Severity{
				{Scheme: "CHMLN", Value: "high", Rank: 1},
				{Scheme: "CVSS", Value: v6.CVSSSeverity{Vector: vector, Version: "3.1"}, Rank: 2},
			},
		},
	}
	must(writer.AddVulnerabilities(vulnerability))
	must(writer.AddAffectedPackages(&v6.AffectedPackageHandle{
		Vulnerability: vulnerability, VulnerabilityID: vulnerability.ID,
		OperatingSystem: &v6.OperatingSystem{
			Name: "debian", ReleaseID: "debian", MajorVersion: "12", Codename: "bookworm",
		},
		Package: &v6.Package{Ecosystem: "deb", Name: "tar"},
		BlobValue: &v6.PackageBlob{
			CVEs: []string{name},
			Ranges: []v6.Range{{
				Version: v6.Version{Type: "dpkg", Constraint: "< 2.0"},
				Fix:     &v6.Fix{Version: "2.0", State: "fixed"},
			}},
		},
	}))
	must(writer.AddEpss(&v6.EpssHandle{Cve: name, Epss: 0.42, Percentile: 0.97, Date: now}))
	must(writer.Close())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
