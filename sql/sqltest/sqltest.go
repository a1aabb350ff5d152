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
	{"ATimezoneGoesWithTheInstance", timezoneGoesWithTheInstance},
	{"ParametersOfAProjectReachItsInstances", projectParamsReachInstances},
	{"ParametersOfAProjectAreBounded", projectParamsAreBounded},
	{"SecretsOfAProjectComeBeforeThoseOfAll", secretsOfAProjectComeBeforeThoseOfAll},
	{"SecretsGoWithTheirProject", secretsGoWithTheirProject},
	{"SecretsAreSealedAnew", secretsAreSealedAnew},
	{"SecretsAreBounded", secretsAreBounded},
	{"EnvironmentsReachInstances", environmentsReachInstances},
	{"AnIdempotencyKeyMakesOneInstance", keyMakesOneInstance},
	{"OldIdempotencyKeysAreSweptInSmallBatches", oldKeysAreSwept},
	{"EachCommandHasOneClaimant", eachCommandHasOneClaimant},
	{"CommandsComeBySlotAndPriority", commandsComeBySlotAndPriority},
	{"ProjectsTakeTurns", projectsTakeTurns},
	{"LentCommandsAreAnyones", lentCommandsAreAnyones},
	{"ClaimsKeepTheirLayout", claimsKeepTheirLayout},
	{"LayoutEpochsOnlyRise", layoutEpochsOnlyRise},
	{"RebalancesAreKept", rebalancesAreKept},
	{"IDsAreNeverGivenTwice", idsAreNeverGivenTwice},
	{"AnOldEpochWritesNothing", oldEpochWritesNothing},
	{"AReleasedInstanceIsClosedToItsOwner", releasedInstanceIsClosedToItsOwner},
	{"TheSameTransitionTwiceIsOnce", sameTransitionTwiceIsOnce},
	{"APoisonedTransitionFailsAlone", poisonFailsAlone},
	{"AnInstanceWithoutVersionIsClaimedAlone", instanceWithoutVersionIsClaimedAlone},
	{"ClaimsCountCrashesAndCommitsClearThem", claimsCountCrashesAndCommitsClearThem},
	{"ATakeoverIsWonByOne", takeOverIsWonByOne},
	{"HandedOverInstancesAreThePeers", handedOverInstancesAreThePeers},
	{"RetakingFencesWhatWasUnderWay", retakingFencesWhatWasUnderWay},
	{"AReleasedQuarantineGoesOnWhereItWas", releasedQuarantineGoesOnWhereItWas},
	{"AReleaseMovesWhatTheHoldTook", aReleaseMovesWhatTheHoldTook},
	{"AClusterBelongsToOneRegistry", aClusterBelongsToOneRegistry},
	{"ABackupUnderLoadIsRestoredWhole", aBackupUnderLoad},
	{"ADamagedBackupIsRefused", aDamagedBackupIsRefused},
	{"FailoversAreListedNewestFirst", failoversAreListedNewestFirst},
	{"ATakeoverBringsTheLostAttemptOfATaskThatWaits", takeoverBringsTheLostAttempt},
	{"AttemptsHaveATimeToCompleteBy", attemptsHaveATimeToCompleteBy},
	{"RunningAttemptsGetMoreTime", runningAttemptsGetMoreTime},
	{"OnlyOneSupervises", onlyOneSupervises},
	{"RecoveriesAreAnsweredByTheOwner", recoveriesAreAnsweredByTheOwner},
	{"InstancesWithoutOwnerGetACommand", instancesWithoutOwnerGetACommand},
	{"UnclaimedCommandsAreLent", unclaimedCommandsAreLent},
	{"OnlyTheLastValueOfAnAttemptStays", onlyLastValuesOfOneTransitionStay},
	{"ManyCallersCommitManyInstances", manyCallersOfManyInstances},
	{"WishesReachTheirOwner", wishesReachTheirOwner},
	{"AReleaseWithAWishMakesACommand", releaseWithAWishMakesACommand},
	{"AWishWithoutOwnerMakesACommand", wishWithoutOwnerMakesACommand},
	{"ChildrenComeWithTheirParentsCommit", childrenComeWithTheirParentsCommit},
	{"AnEndedChildWakesItsParent", anEndedChildWakesItsParent},
	{"AParentAndItsChildMayCommitTogether", aParentAndItsChildMayCommitTogether},
	{"ItemsOutliveTheirMaster", itemsOutliveTheirMaster},
	{"AShorterListHidesOlderItems", aShorterListHidesOlderItems},
	{"IterationsGoWithTheirTask", iterationsGoWithTheirTask},
	{"AChildThatRunsAgainTellsItsParent", aChildThatRunsAgainTellsItsParent},
	{"AParentThatRunsHearsOfNoNewRound", aParentThatRunsHearsOfNoNewRound},
	{"DecisionsOutliveTheirMaster", decisionsOutliveTheirMaster},
	{"AWishCarriesWhatItSays", aWishCarriesWhatItSays},
	{"ResultsAreKeptWithTheirCommit", resultsAreKeptWithTheirCommit},
	{"AttemptsKnowTheirCacheKey", attemptsKnowTheirCacheKey},
	{"KeptResultsAreCleared", keptResultsAreCleared},
	{"OldResultsAreSwept", oldResultsAreSwept},
	{"KeptTasksComeWithTheirStart", keptTasksComeWithTheirStart},
	{"ListenersComeAndGo", listenersComeAndGo},
	{"ListenersAreBounded", listenersAreBounded},
	{"ListenersHearOfInstances", listenersHearOfInstances},
	{"ADeliveryHasOneMaster", aDeliveryHasOneMaster},
	{"AReplyBelongsToItsInstance", aReplyBelongsToItsInstance},
	{"LanesAreFoundOneByOne", lanesAreFoundOneByOne},
	{"OldDeliveriesAreSwept", oldDeliveriesAreSwept},
	{"OldInstancesAreRetired", oldInstancesAreRetired},
	{"AChildStaysWithItsParent", aChildStaysWithItsParent},
	{"TheNewestOfAWorkflowAreKept", theNewestOfAWorkflowAreKept},
	{"OldBackfillsAreRetired", oldBackfillsAreRetired},
	{"DependenciesFindTheirRuns", dependenciesFindTheirRuns},
	{"OwnedInstancesCanBeLoadedAgain", ownedInstancesCanBeLoadedAgain},
	{"PlacesAreGivenInTurn", placesAreGivenInTurn},
	{"KeysHaveTheirOwnPlaces", keysHaveTheirOwnPlaces},
	{"AFullLineDiscards", aFullLineDiscards},
	{"TheNewestReplaces", theNewestReplaces},
	{"ANewLimitLetsGo", aNewLimitLetsGo},
	{"AnInstanceSetAsideGivesItsPlace", anInstanceSetAsideGivesItsPlace},
	{"ATurnIsNotLostByARelease", aTurnIsNotLostByARelease},
	{"OnlyTheOwnerEnters", onlyTheOwnerEnters},
	{"NeverMoreThanTheLimit", neverMoreThanTheLimit},
	{"ABackfillRunsItsDates", aBackfillRunsItsDates},
	{"ABackfillStopsAtAFailure", aBackfillStopsAtAFailure},
	{"ABackfillIsPausedAndCancelled", aBackfillIsPausedAndCancelled},
	{"EachDateOfABackfillStartsOnce", eachDateStartsOnce},
	{"TenThousandDatesAreOneBackfill", tenThousandDates},
	{"ARecoveredDateSucceeds", aRecoveredDateSucceeds},
	{"WorkflowsWithDependentsAreFound", workflowsWithDependentsAreFound},
	{"RunsOfDatesAreFound", runsOfDatesAreFound},
	{"PlacesOfAGroupComeAndGo", placesOfAGroupComeAndGo},
	{"NeverMoreThanTheSize", neverMoreThanTheSize},
	{"VersionsAreSavedByMatch", versionsAreSavedByMatch},
	{"FirstSavesOfOneNameMakeOneWorkflow", firstSavesOfOneNameMakeOneWorkflow},
	{"TextsStayByteForByte", textsStayByteForByte},
	{"DraftsAreKeptByRevision", draftsAreKeptByRevision},
	{"OneOfManyKeepsTheFirstDraft", oneOfManyKeepsTheFirstDraft},
	{"WhatIsInUseIsNotDeleted", whatIsInUseIsNotDeleted},
	{"ProjectsAreListedByName", projectsAreListedByName},
	{"UsersSignInByTheirRows", usersSignInByTheirRows},
	{"SecretsOpenOnce", secretsOpenOnce},
	{"TokensBelongToTheirUser", tokensBelongToTheirUser},
	{"MembersHaveOneRole", membersHaveOneRole},
	{"AProjectKeepsItsLastOwner", projectKeepsItsLastOwner},
	{"SetUpIsFinishedOnce", setUpIsFinishedOnce},
	{"SessionsAreListedWhileTheyLast", sessionsAreListedWhileTheyLast},
	{"OverviewsCountAndCut", overviewsCountAndCut},
	{"TheAuditOnlyGrows", auditOnlyGrows},
	{"TheAuthorityIsMadeOnce", authorityIsMadeOnce},
	{"ListsAreStableUnderInserts", listsAreStableUnderInserts},
	{"FiltersShowWhatTheyName", filtersShowWhatTheyName},
	{"FiltersLookIntoRows", filtersLookIntoRows},
	{"HistogramCountsWhatTheListShows", histogramCountsWhatTheListShows},
	{"NeighboursAreOfTheSameWorkflow", neighboursAreOfTheSameWorkflow},
	{"ForeignCursorsAreRefused", foreignCursorsAreRefused},
}
