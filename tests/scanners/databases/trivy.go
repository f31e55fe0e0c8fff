// Writes a database of Trivy with one vulnerability in Debian's tar into a folder.
package main

import (
	"os"
	"time"

	"github.com/aquasecurity/trivy-db/pkg/db"
	"github.com/aquasecurity/trivy-db/pkg/metadata"
	"github.com/aquasecurity/trivy-db/pkg/types"
	bolt "go.etcd.io/bbolt"
)

const (
	name     = "CVE-2026-0001"
	platform = "debian 12"
)

func main() {
	folder := os.Args[1]
	must(db.Init(folder))
	config := db.Config{}
	must(config.BatchUpdate(func(tx *bolt.Tx) error {
		must(config.PutDataSource(tx, platform, types.DataSource{
			ID: "debian", Name: "Debian Security Tracker", URL: "https://security-tracker.debian.org/",
		}))
		must(config.PutVulnerability(tx, name, types.Vulnerability{
			Title:          "tar reads too far.",
			VendorSeverity: types.VendorSeverity{"nvd": types.SeverityCritical, "debian": types.SeverityHigh},
			CVSS: types.VendorCVSS{"nvd": types.CVSS{
				V3Vector: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:N", V3Score: 9.1,
			}},
		}))
		return config.PutAdvisoryDetail(tx, name, "tar", []string{platform}, &types.Advisory{FixedVersion: "2.0"})
	}))
	must(config.BatchUpdate(func(tx *bolt.Tx) error { return config.SaveAdvisoryDetails(tx, name) }))
	must(db.Close())
	now := time.Now()
	must(metadata.NewClient(folder).Update(metadata.Metadata{
		Version: db.SchemaVersion, NextUpdate: now.AddDate(1, 0, 0), UpdatedAt: now, DownloadedAt: now,
	}))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
