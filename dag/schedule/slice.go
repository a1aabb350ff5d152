package schedule

import (
	"math/bits"

	"github.com/porpoise/porpoise/dag"
)

const (
	// maxBuckets is how many buckets the fires of a minute can be spread over.
	maxBuckets = 1024
	// perBucket is how many fires of a minute one bucket holds before there are two: about what one transaction fires.
	perBucket = 256

	msPerMinute = 60_000
)

// Bucket returns the bucket of a schedule's or a timer's fires, from 0 to 1023.
func Bucket(source int64) int { return int(uint64(source) % maxBuckets) }

// Buckets returns onto how many buckets the fires of one minute are folded: a power of two, so that a lone fire costs
// one slice and many are spread over all masters.
func Buckets(fires int) int {
	need := (fires + perBucket - 1) / perBucket
	if need <= 1 {
		return 1
	}
	return min(1<<bits.Len(uint(need-1)), maxBuckets)
}

// SlotOf returns the slot, from 0 to slots-1, that a fire belongs to: that of its minute and its bucket, folded onto
// the minute's buckets.
func SlotOf(due dag.Millis, bucket, buckets, slots int) int {
	minute := int64(due) / msPerMinute
	return int((minute*31 + int64(bucket%buckets)*7) % int64(slots))
}
