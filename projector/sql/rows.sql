-- How what comes in becomes rows: a SELECT per table and topic over `incoming`, the topic's events of one batch.
-- Its columns are the event's fields, nested as in the log, where the record lies (stream, partition, offset,
-- appended_at), its place in the batch, and what `incoming.py` adds. `statements.py` makes the INSERT, and joins what a
-- keyed table's SELECT says of one key: the latest place holds, and a null says nothing, but within a group.
-- A marker's WHERE names columns: a batch without a value in any of them has no such rows.

-- The one text form of a subject.
CREATE TEMP MACRO subject_text(subject) AS CASE
    WHEN subject.revision IS NOT NULL THEN coalesce(subject.repository, '') || '@' || subject.revision
    WHEN subject IS NOT NULL THEN subject.kind || ':' || coalesce(subject.digest, '')
END;

-- FROM transitions, shard_notes INTO transitions
SELECT stream, tenant_id, workflow_id, sequence, version, kind, only_noted AS note, workflow_status,
    task_id, attempt_id, worker_id, fencing_token, attempt, round, reason,
    stop.stop_reason, stop.person, minutes_spent, decided_at, appended_at, event_id,
    cause.event_id AS cause_event_id, cause.topic AS cause_topic,
    cause.partition AS cause_partition, cause."offset" AS cause_offset,
    policy_sha256, decider_version, writer.instance AS writer_instance, writer.generation AS writer_generation,
    partition, "offset"
FROM incoming;

-- FROM transitions INTO workflows
-- A quarantined workflow has a reason but is not settled: its state is in doubt, not over.
WITH told AS (
    SELECT *, stop IS NOT NULL AND kind NOT IN ('task_escalated', 'task_stopped') AS ended FROM incoming
)
SELECT place, tenant_id, workflow_id, workflow_status AS status, sequence, version, decided_at AS changed_at,
    policy_sha256,
    normal.workflow_type, normal.owner, normal.objective, normal.data_classification,
    normal.limits.max_cost_gbp, normal.limits.max_tokens, normal.limits.max_tool_calls,
    CASE WHEN normal IS NOT NULL THEN contract.contract_version END AS contract_version,
    CASE WHEN normal IS NOT NULL THEN contract.contract_sha256 END AS contract_sha256,
    CASE WHEN normal IS NOT NULL THEN contract.content_digest END AS content_digest,
    CASE WHEN normal IS NOT NULL THEN contract.submitter END AS submitter,
    CASE WHEN normal IS NOT NULL THEN contract.proposed_by END AS proposed_by,
    CASE WHEN normal IS NOT NULL THEN contract.approved_by END AS approved_by,
    CASE WHEN normal IS NOT NULL THEN contract.submitted_at END AS submitted_at,
    CASE WHEN normal IS NOT NULL THEN contract.deadline_at END AS deadline_at,
    gate.development_acceptance, gate.deployment_authorisation, gate.authoriser,
    list_transform(gate.final_subjects, lambda each: subject_text(each)) AS final_subjects,
    CASE WHEN gate IS NOT NULL THEN decided_at END AS accepted_at,
    CASE WHEN gate IS NOT NULL OR (ended AND workflow_status = 'stopped') THEN decided_at END AS settled_at,
    CASE WHEN ended THEN stop.stop_reason END AS stop_reason,
    CASE WHEN ended THEN stop.detail END AS stop_detail,
    CASE WHEN ended THEN stop.person END AS stopped_by,
    rejection.content_digest AS rejected_digest, rejection.faults AS rejected_faults
FROM told;

-- FROM transitions INTO tasks WHERE changes OR tasks
SELECT place + ordinal AS place, tenant_id, workflow_id, change.task_id, sequence, change.status, change.round,
    change.reason, decided_at AS since,
    CASE WHEN change.status IN ('escalated', 'awaiting_decision') THEN coalesce(owner, stop_owner) END AS waits_for
FROM (
    SELECT place, tenant_id, workflow_id, sequence, decided_at, ending.owner, stop.owner AS stop_owner,
        unnest(changes) AS change, generate_subscripts(changes, 1) AS ordinal
    FROM incoming
)
UNION ALL BY NAME
SELECT place + ordinal AS place, tenant_id, workflow_id, contract_version, ordinal,
    task.task_id, task.task_type, task.capability, task.pool, task.objective, task.risk_class, task.depends_on,
    task.limits.max_cost_gbp, task.limits.max_tokens, task.limits.max_tool_calls, task.limits.max_attempts,
    task.limits.deadline_seconds
FROM (
    SELECT place, tenant_id, workflow_id, contract.contract_version,
        unnest(tasks) AS task, generate_subscripts(tasks, 1) AS ordinal
    FROM incoming WHERE tasks IS NOT NULL
);

-- FROM transitions INTO task_changes WHERE changes
SELECT tenant_id, workflow_id, sequence, change.task_id, change.status, change.round, change.reason, decided_at
FROM (SELECT tenant_id, workflow_id, sequence, decided_at, unnest(changes) AS change FROM incoming);

-- FROM transitions INTO requirements WHERE requirements OR gate
SELECT place + ordinal AS place, tenant_id, workflow_id, requirement.id AS requirement_id, contract_version,
    requirement.text, requirement.source, requirement.mandatory, requirement.security,
    list_transform(requirement.checks, lambda each: each.id) AS checks,
    list_sort(list_distinct(list_transform(requirement.checks, lambda each: each.task))) AS tasks
FROM (
    SELECT place, tenant_id, workflow_id, contract.contract_version,
        unnest(requirements) AS requirement, generate_subscripts(requirements, 1) AS ordinal
    FROM incoming WHERE requirements IS NOT NULL
)
UNION ALL BY NAME
SELECT place + ordinal AS place, tenant_id, workflow_id, found.requirement_id, found.held, decided_at AS judged_at
FROM (
    SELECT place, tenant_id, workflow_id, decided_at,
        unnest(gate.requirements) AS found, generate_subscripts(gate.requirements, 1) AS ordinal
    FROM incoming WHERE gate IS NOT NULL
);

-- FROM transitions INTO attempts WHERE attempt_id
WITH told AS (
    SELECT *,
        kind IN ('offer_declined', 'offer_expired') AS given_back,
        kind = 'inspection_requested' AND request IS NOT NULL AS submitted,
        settlement IS NOT NULL AND kind <> 'reservation_released' AS settled,
        given_back OR accepted IS NOT NULL OR ending IS NOT NULL OR settled AS ended,
        CASE WHEN NOT given_back AND accepted IS NULL THEN ending END AS lost,
        -- What was held is free again: by a release, or by usage that came late.
        kind = 'reservation_released' OR (kind = 'late_usage' AND note IS NOT NULL) AS freed
    FROM incoming WHERE attempt_id IS NOT NULL
)
SELECT place, attempt_id, tenant_id, workflow_id, task_id, worker_id, round, fencing_token,
    CASE
        WHEN ended THEN 'ended'
        WHEN submitted THEN 'awaiting_review'
        WHEN claim IS NOT NULL THEN 'running'
        WHEN dispatch IS NOT NULL THEN 'offered'
    END AS status,
    coalesce(claim.attempt, dispatch.attempt) AS attempt,
    coalesce(claim.incarnation, dispatch.incarnation) AS incarnation,
    dispatch.pool, dispatch.contract_sha256, dispatch.queued_at, dispatch.offer_until,
    CASE WHEN dispatch IS NOT NULL THEN decided_at END AS offered_at,
    CASE WHEN claim IS NOT NULL THEN decided_at END AS claimed_at,
    claim.deadline_at,
    CASE WHEN submitted THEN decided_at END AS submitted_at,
    CASE WHEN submitted THEN request.result.started_at END AS handler_started_at,
    CASE WHEN submitted THEN request.result.ended_at END AS handler_ended_at,
    CASE WHEN ended THEN decided_at END AS ended_at,
    CASE
        WHEN given_back THEN replace(kind, 'offer_', '')
        WHEN accepted IS NOT NULL THEN 'accepted'
        WHEN ending IS NOT NULL THEN ending.outcome
        WHEN settled THEN coalesce(stop.stop_reason, kind)
    END AS outcome,
    lost.error_class, lost.faults, lost.recovery, lost.recovery_reason, lost.rework_task, lost.not_before,
    CASE WHEN NOT given_back THEN accepted.first_pass END AS first_pass,
    CASE WHEN NOT given_back THEN subject_text(accepted.subject) END AS subject,
    dispatch.reserved.cost_gbp AS reserved_cost_gbp,
    dispatch.reserved.tokens AS reserved_tokens,
    dispatch.reserved.tool_calls AS reserved_tool_calls,
    CASE WHEN freed THEN 0 ELSE settlement.held.cost_gbp END AS held_cost_gbp,
    CASE WHEN freed THEN 0 ELSE settlement.held.tokens END AS held_tokens,
    CASE WHEN freed THEN 0 ELSE settlement.held.tool_calls END AS held_tool_calls,
    dispatch.price.name AS price_entry, dispatch.price.per_1k_tokens_in, dispatch.price.per_1k_tokens_out,
    dispatch.price.per_tool_call, dispatch.price.per_worker_second
FROM told
WHERE dispatch IS NOT NULL OR claim IS NOT NULL OR submitted OR ended OR freed OR settlement IS NOT NULL;

-- FROM transitions INTO routes WHERE dispatch
SELECT tenant_id, workflow_id, sequence, ordinal, task_id, attempt_id, pool, candidate.worker_id,
    candidate.worker_id IS NOT DISTINCT FROM worker_id AS chosen, candidate.excluded_by, registry_offset, decided_at
FROM (
    SELECT tenant_id, workflow_id, sequence, task_id, attempt_id, worker_id, decided_at,
        dispatch.pool, dispatch.registry_offset,
        unnest(dispatch.candidates) AS candidate, generate_subscripts(dispatch.candidates, 1) AS ordinal
    FROM incoming WHERE dispatch IS NOT NULL AND attempt_id IS NOT NULL
);

-- FROM transitions INTO costs WHERE settlement OR note OR minutes_spent
-- At most one row per transition, so that their sum is what was spent.
WITH told AS (
    SELECT *, CASE
        WHEN settlement IS NOT NULL AND kind <> 'reservation_released' THEN 'settlement'
        WHEN kind = 'late_usage' AND note IS NOT NULL THEN 'late_usage'
        WHEN minutes_spent IS NOT NULL THEN 'minutes'
    END AS booking
    FROM incoming
), booked AS (
    SELECT *, CASE booking WHEN 'settlement' THEN settlement.usage WHEN 'late_usage' THEN note.usage END AS usage
    FROM told WHERE booking IS NOT NULL
)
SELECT tenant_id, workflow_id, sequence, booking AS kind, task_id, attempt_id, worker_id, round,
    coalesce(CASE booking WHEN 'settlement' THEN settlement.cost_gbp WHEN 'late_usage' THEN note.cost_gbp END, 0) AS cost_gbp,
    usage.tokens_in, usage.tokens_out, usage.tool_calls, usage.worker_seconds, usage.model, usage.estimated,
    CASE booking WHEN 'settlement' THEN settlement.overrun END AS overrun,
    minutes_spent, policy_sha256, decided_at AS booked_at, cause.event_id AS cause_event_id
FROM booked;

-- FROM transitions INTO evidence WHERE judged
SELECT tenant_id, workflow_id, sequence, ordinal, each.task_id, each.attempt_id, each.worker_id,
    each.kind, each.observed_by, accepted, each.failing,
    each.checks, each.command, each.form, each.argv, subject_text(each.subject) AS subject, each.exit_status,
    each.passed_cases, each.failed_cases, each.skipped_cases, each.findings,
    each.output.reference AS output_reference, each.output.sha256 AS output_sha256,
    each.report.reference AS report_reference, each.report.sha256 AS report_sha256,
    each.environment_digest, each.started_at, each.ended_at
FROM (
    SELECT tenant_id, workflow_id, sequence, accepted IS NOT NULL AS accepted,
        unnest(judged) AS each, generate_subscripts(judged, 1) AS ordinal
    FROM incoming
);

-- FROM decisions INTO decisions
SELECT tenant_id, workflow_id, event_id, kind, person, task_id, item_id, content_sha256, state_version, reason,
    resolution, minutes_spent, appended_at, partition, "offset"
FROM incoming;

-- FROM dead-letters INTO dead_letters
SELECT source_topic, source_partition, source_offset, kind, tenant_id, workflow_id, record_sha256, size, reason,
    event_id, appended_at
FROM incoming;

-- FROM policies INTO policies
SELECT policy_sha256, human_minute_gbp, environment, author, appended_at AS applied_at FROM incoming;
