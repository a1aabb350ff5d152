package dispatch

import "cmp"

// queue is a heap of items with the place of each key, so that a task can be
// withdrawn from the middle.
type queue struct {
	items []Item
	place map[Key]int
}

// before orders items: instance priority, task priority, age, then key, so that the
// order never depends on chance.
func before(a, b Item) bool {
	return cmp.Or(
		cmp.Compare(a.InstancePriority, b.InstancePriority),
		cmp.Compare(a.TaskPriority, b.TaskPriority),
		cmp.Compare(a.ReadyAt, b.ReadyAt),
		cmp.Compare(a.Instance, b.Instance),
		cmp.Compare(a.Task, b.Task),
	) < 0
}

// Len implements heap.Interface.
func (q *queue) Len() int { return len(q.items) }

// Less implements heap.Interface.
func (q *queue) Less(i, j int) bool { return before(q.items[i], q.items[j]) }

// Swap implements heap.Interface.
func (q *queue) Swap(i, j int) {
	q.items[i], q.items[j] = q.items[j], q.items[i]
	q.place[q.items[i].Key], q.place[q.items[j].Key] = i, j
}

// Push implements heap.Interface; x is an Item.
func (q *queue) Push(x any) {
	item := x.(Item)
	q.place[item.Key] = len(q.items)
	q.items = append(q.items, item)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(q.items) - 1
	item := q.items[last]
	q.items = q.items[:last]
	delete(q.place, item.Key)
	return item
}
