package main

// heardOnce is I25: a child belongs to one attempt of its parent, which ended as the child did.
func heardOnce(r *report) {
	for _, in := range ordered(r.instances) {
		if !in.child() {
			continue
		}
		r.look()
		parent := r.instances[in.row.num("parent_instance_id")]
		var a *attempt
		if parent != nil && parent.byName[in.row.str("parent_task")] != nil {
			a = parent.byName[in.row.str("parent_task")].attempts[in.row.num("parent_attempt")]
		}
		switch {
		case a == nil || a.row == nil:
			r.bad(in.story(), "instance %d (%s) is the child of nobody", in.id, in.name())
		case a.row.num("child_id") != in.id:
			r.bad(a.proof(), "%s waits for instance %d, and instance %d was made for it too", a, a.row.num("child_id"), in.id)
		case finalAttempt[a.state()] && finalInstance[in.row.str("state")] && (a.state() == "success") != (in.row.str("state") == "success"):
			r.bad(append(in.story(), a.proof()...), "%s is %s, and its child %d is %s", a, a.state(), in.id, in.row.str("state"))
		}
	}
	r.eachAttempt(func(a *attempt) {
		if id := a.row.num("child_id"); id != 0 && (r.instances[id] == nil || !r.instances[id].child()) {
			r.bad(a.proof(), "%s waits for instance %d, which is no child", a, id)
		}
	})
}
