package apiserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// addPlace says who holds the places that an instance waits for, and how many are before it.
func (s *Server) addPlace(ctx context.Context, in *dag.Instance, e *Explanation) error {
	if in.State != dag.InstanceSerialWait {
		return nil
	}
	place, err := s.store.Place(ctx, in.ID)
	if errors.Is(err, sql.ErrNotFound) {
		return nil // it is about to ask for one
	}
	if err != nil {
		return fmt.Errorf("read the line of instance %d: %w", in.ID, err)
	}
	at := e
	if e.Args["task"] != "" && len(e.Causes) > 0 {
		at = &e.Causes[0] // the task waits for its instance, which waits for its turn
	}
	if place.ReplacedBy != 0 {
		id := strconv.FormatInt(place.ReplacedBy, 10)
		at.Causes = append(at.Causes, Explanation{Code: "place_replaced", Args: map[string]string{"instance": id}, Text: "instance " + id + " takes its place"})
	}
	for _, h := range place.Holders {
		id := strconv.FormatInt(h.InstanceID, 10)
		args := map[string]string{"instance": id, "state": string(h.State), "limit": strconv.Itoa(place.Limit)}
		if place.Key != "" {
			args["key"] = place.Key
		}
		at.Causes = append(at.Causes, Explanation{
			Code: "holds_place", Args: args, Text: fmt.Sprintf("instance %s, which is %s, holds a place", id, h.State), Since: Time(h.Since),
		})
	}
	if rest := place.Held - len(place.Holders); rest > 0 {
		at.Causes = append(at.Causes, Explanation{Code: "more", Args: map[string]string{"count": strconv.Itoa(rest)}, Text: fmt.Sprintf("and %d more", rest)})
	}
	if place.Ahead > 0 {
		text := fmt.Sprintf("%d instances are before it in the line", place.Ahead)
		if place.Ahead == 1 {
			text = "1 instance is before it in the line"
		}
		at.Causes = append(at.Causes, Explanation{Code: "place_ahead", Args: map[string]string{"count": strconv.Itoa(place.Ahead)}, Text: text})
	}
	return nil
}
