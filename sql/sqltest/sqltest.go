// Package sqltest is the suite that every database of Porpoise must pass: it knows sql.Store by
// its promises alone, and which database is behind it only to say so.
//
// The tests of package sql run it on SQLite, on MariaDB at two isolation levels, and on MySQL.
package sqltest

import (
	"testing"

	"github.com/porpoise/porpoise/sql"
)

// Open gives a test its own, empty, migrated database; called again within one test with the
// same name, another Store of the same database.
type Open func(t *testing.T, name string) *sql.Store

// Run runs the suite; open must be safe for parallel tests.
func Run(t *testing.T, open Open) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, newBench(t, open))
		})
	}
}

var cases = []struct {
	name string
	run  func(*testing.T, *bench)
}{
	{"AStartIsClaimedAndCommittedToItsEnd", startToEnd},
	{"ATriggerMakesOneInstance", triggerIsUnique},
	{"AnIdempotencyKeyMakesOneInstance", keyMakesOneInstance},
	{"OldIdempotencyKeysAreSweptInSmallBatches", oldKeysAreSwept},
	{"EachCommandHasOneClaimant", eachCommandHasOneClaimant},
	{"CommandsComeBySlotAndPriority", commandsComeBySlotAndPriority},
	{"IDsAreNeverGivenTwice", idsAreNeverGivenTwice},
	{"AnOldEpochWritesNothing", oldEpochWritesNothing},
	{"AReleasedInstanceIsClosedToItsOwner", releasedInstanceIsClosedToItsOwner},
	{"TheSameTransitionTwiceIsOnce", sameTransitionTwiceIsOnce},
	{"APoisonedTransitionFailsAlone", poisonFailsAlone},
	{"AnInstanceWithoutVersionIsClaimedAlone", instanceWithoutVersionIsClaimedAlone},
	{"ClaimsCountCrashesAndCommitsClearThem", claimsCountCrashesAndCommitsClearThem},
	{"ATakeoverIsWonByOne", takeOverIsWonByOne},
	{"OnlyTheLastValueOfAnAttemptStays", onlyLastValuesOfOneTransitionStay},
	{"ManyCallersCommitManyInstances", manyCallersOfManyInstances},
	{"WishesReachTheirOwner", wishesReachTheirOwner},
	{"AReleaseWithAWishMakesACommand", releaseWithAWishMakesACommand},
	{"AWishWithoutOwnerMakesACommand", wishWithoutOwnerMakesACommand},
	{"OwnedInstancesCanBeLoadedAgain", ownedInstancesCanBeLoadedAgain},
	{"VersionsAreSavedByMatch", versionsAreSavedByMatch},
	{"FirstSavesOfOneNameMakeOneWorkflow", firstSavesOfOneNameMakeOneWorkflow},
	{"TextsStayByteForByte", textsStayByteForByte},
	{"WhatIsInUseIsNotDeleted", whatIsInUseIsNotDeleted},
	{"ProjectsAreListedByName", projectsAreListedByName},
	{"UsersSignInByTheirRows", usersSignInByTheirRows},
	{"SecretsOpenOnce", secretsOpenOnce},
	{"TokensBelongToTheirUser", tokensBelongToTheirUser},
	{"MembersHaveOneRole", membersHaveOneRole},
	{"TheAuditOnlyGrows", auditOnlyGrows},
	{"TheAuthorityIsMadeOnce", authorityIsMadeOnce},
	{"ListsAreStableUnderInserts", listsAreStableUnderInserts},
	{"FiltersShowWhatTheyName", filtersShowWhatTheyName},
	{"ForeignCursorsAreRefused", foreignCursorsAreRefused},
}
