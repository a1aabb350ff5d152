package moment

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a container need not have the database of timezones
)

// maxZoneName is how many bytes the name of a timezone may have; the longest of the IANA
// database has 32.
const maxZoneName = 64

// Location returns the timezone of an IANA name such as Europe/Berlin; "" is UTC. Local is
// refused: it is another one on each machine.
func Location(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	if len(name) <= maxZoneName && !strings.EqualFold(name, "local") {
		if loc, err := time.LoadLocation(name); err == nil {
			return loc, nil
		}
	}
	return nil, fmt.Errorf("there is no timezone %.64q: want a name like Europe/Berlin or UTC", name)
}
