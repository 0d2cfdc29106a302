-- What the tables mean. A comment above a view and after a column becomes its COMMENT in the database.
-- Money is exact: sums of decimals; a division is rounded half-even to six digits. Days are UTC days.

CREATE MACRO half_even(n, d) AS
    sign(n)::HUGEINT * ((abs(n) // d)
        + CASE WHEN 2 * (abs(n) % d) > d OR (2 * (abs(n) % d) = d AND (abs(n) // d) % 2 = 1) THEN 1 ELSE 0 END);
CREATE MACRO micros(amount) AS CAST(CAST(amount AS DECIMAL(31, 6)) * 1000000::DECIMAL(7, 0) AS HUGEINT);
CREATE MACRO from_micros(n) AS CAST(CAST(n AS DECIMAL(32, 0)) * 0.000001::DECIMAL(6, 6) AS DECIMAL(38, 6));
CREATE MACRO exact_ratio(amount, n) AS
    CASE WHEN n > 0 THEN from_micros(half_even(micros(amount), CAST(n AS HUGEINT))) END;
CREATE MACRO exact_product(a, b) AS from_micros(half_even(micros(a) * micros(b), 1000000::HUGEINT));
CREATE MACRO seconds_between(a, b) AS (epoch_us(b) - epoch_us(a)) / 1e6;
CREATE MACRO utc_day(t) AS CAST(timezone('UTC', t) AS DATE);

-- Every booking in pounds, a person's minutes priced by the policy that was pinned.
CREATE VIEW bookings AS
SELECT
    costs.tenant_id,                                -- tenant
    costs.workflow_id,                              -- workflow
    costs.sequence,                                 -- sequence of the transition that booked it
    costs.kind,                                     -- settlement, late_usage or minutes
    costs.task_id,                                  -- task
    costs.attempt_id,                               -- attempt
    costs.worker_id,                                -- worker
    costs.round,                                    -- round
    costs.booked_at,                                -- when, by the log's clock
    costs.cost_gbp AS usage_gbp,                    -- pounds for tokens, tool calls and worker-seconds
    coalesce(exact_product(costs.minutes_spent, policies.human_minute_gbp), 0) AS people_gbp, -- pounds for people's minutes; 0 where no rate is known
    usage_gbp + people_gbp AS cost_gbp,             -- pounds in all
    costs.minutes_spent,                            -- a person's minutes
    costs.estimated                                 -- nothing was reported: the reservation was booked
FROM costs LEFT JOIN policies USING (policy_sha256);

-- What each attempt cost and used in the end, late reports included.
CREATE VIEW attempt_costs AS
SELECT
    tenant_id,                                      -- tenant
    workflow_id,                                    -- workflow
    attempt_id,                                     -- attempt
    any_value(task_id) AS task_id,                  -- task
    sum(cost_gbp) AS cost_gbp,                      -- pounds booked
    arg_max(tokens_in, sequence) AS tokens_in,      -- as reported last
    arg_max(tokens_out, sequence) AS tokens_out,    -- as reported last
    arg_max(tool_calls, sequence) AS tool_calls,    -- as reported last
    arg_max(worker_seconds, sequence) AS worker_seconds, -- as reported last
    arg_max(estimated, sequence) AS estimated       -- the reservation was booked, since nothing was reported
FROM costs
WHERE attempt_id IS NOT NULL
GROUP BY tenant_id, workflow_id, attempt_id;

-- How long people were waited for: the time in which at least one task was escalated or awaited a decision.
CREATE VIEW people_waits AS
WITH turns AS (
    SELECT tenant_id, workflow_id, sequence, decided_at,
        CAST(status IN ('escalated', 'awaiting_decision') AS INTEGER)
        - coalesce(lag(CAST(status IN ('escalated', 'awaiting_decision') AS INTEGER)) OVER task, 0) AS step
    FROM task_changes
    WINDOW task AS (PARTITION BY tenant_id, workflow_id, task_id ORDER BY sequence)
), levels AS (
    SELECT tenant_id, workflow_id, sequence, any_value(decided_at) AS decided_at, sum(step) AS step
    FROM turns GROUP BY tenant_id, workflow_id, sequence
), spans AS (
    SELECT tenant_id, workflow_id, decided_at AS began_at,
        lead(decided_at) OVER workflow AS ended_at,
        sum(step) OVER workflow AS waiting
    FROM levels
    WINDOW workflow AS (PARTITION BY tenant_id, workflow_id ORDER BY sequence)
)
SELECT
    spans.tenant_id,                                -- tenant
    spans.workflow_id,                              -- workflow
    coalesce(sum(seconds_between(
        least(spans.began_at, workflows.settled_at), least(spans.ended_at, workflows.settled_at)
    )) FILTER (WHERE waiting > 0 AND coalesce(spans.ended_at, workflows.settled_at) IS NOT NULL), 0) AS waiting_for_people_seconds -- until it settled; an open wait of an open workflow isn't counted yet
FROM spans JOIN workflows USING (tenant_id, workflow_id)
GROUP BY spans.tenant_id, spans.workflow_id;

-- One row per settled workflow: development acceptance, or an end without it. What the rates are taken over.
CREATE VIEW settled_workflows AS
WITH money AS (
    SELECT tenant_id, workflow_id, sum(cost_gbp) AS cost_gbp, sum(people_gbp) AS people_gbp, sum(minutes_spent) AS minutes,
        bool_or(estimated) AS estimated
    FROM bookings GROUP BY tenant_id, workflow_id
), tried AS (
    SELECT tenant_id, workflow_id,
        count(*) FILTER (WHERE NOT verifies) AS attempts,
        count(*) FILTER (WHERE NOT verifies AND attempt > 1) AS retries,
        count(*) FILTER (WHERE recovery = 'rework') AS reworks,
        count(DISTINCT (task_id, round)) FILTER (WHERE NOT verifies)
            - count(DISTINCT task_id) FILTER (WHERE NOT verifies) AS extra_rounds,
        count(DISTINCT task_id) FILTER (WHERE NOT verifies) AS tried_tasks,
        count(*) FILTER (WHERE verifies AND (outcome = 'disagreed' OR outcome = 'accepted')) AS verifications,
        count(*) FILTER (WHERE verifies AND outcome = 'disagreed') AS verification_disagreements
    FROM (
        SELECT attempts.*, coalesce(tasks.task_type = 'verify', false) AS verifies
        FROM attempts LEFT JOIN tasks USING (tenant_id, workflow_id, task_id)
    )
    WHERE claimed_at IS NOT NULL GROUP BY tenant_id, workflow_id
), passed AS (
    SELECT tenant_id, workflow_id, count(*) AS accepted_tasks, count(*) FILTER (WHERE first_pass) AS first_pass_tasks
    FROM tasks JOIN (
        SELECT tenant_id, workflow_id, task_id, arg_max(first_pass, fencing_token) AS first_pass
        FROM attempts WHERE outcome = 'accepted' GROUP BY tenant_id, workflow_id, task_id
    ) USING (tenant_id, workflow_id, task_id)
    WHERE status = 'completed' AND task_type IS DISTINCT FROM 'verify' GROUP BY tenant_id, workflow_id
), escalations AS (
    SELECT tenant_id, workflow_id, count(*) AS escalations
    FROM task_changes WHERE status = 'escalated' GROUP BY tenant_id, workflow_id
)
SELECT
    workflows.tenant_id,                            -- tenant
    workflows.workflow_id,                          -- workflow
    workflows.workflow_type,                        -- workflow type
    workflows.settled_at,                           -- development acceptance, or the end without it
    utc_day(workflows.settled_at) AS day_utc,       -- UTC day of settled_at
    workflows.accepted_at IS NOT NULL AS accepted,  -- development acceptance was given
    workflows.stop_reason,                          -- why it ended
    coalesce(money.cost_gbp, 0) AS cost_gbp,        -- pounds of all its attempts and people, whenever booked
    coalesce(money.people_gbp, 0) AS people_gbp,    -- pounds of people's minutes in it
    coalesce(money.minutes, 0) AS human_minutes,    -- people's minutes
    coalesce(money.estimated, false) AS estimated,  -- part of the cost is a reservation, since nothing was reported
    coalesce(attempts, 0) AS attempts,              -- claimed attempts; here and below verifications are left out
    coalesce(retries, 0) AS retries,                -- of these not the first of their task and round
    coalesce(reworks, 0) AS reworks,                -- attempts whose evidence sent work back
    coalesce(extra_rounds, 0) AS extra_rounds,      -- rounds of its tasks beyond each task's first
    coalesce(tried_tasks, 0) AS tried_tasks,        -- tasks with at least one attempt
    coalesce(accepted_tasks, 0) AS accepted_tasks,  -- tasks that are completed
    coalesce(first_pass_tasks, 0) AS first_pass_tasks, -- of these with no earlier attempt or round
    coalesce(verifications, 0) AS verifications,    -- times that a verifier ran a task's commands again and came to an answer
    coalesce(verification_disagreements, 0) AS verification_disagreements, -- of these not what the task's own evidence shows
    coalesce(escalations, 0) AS escalations,        -- times a task went to a person
    CASE WHEN accepted THEN seconds_between(workflows.submitted_at, workflows.accepted_at) END AS completion_seconds, -- append of the contract to development acceptance; null without it
    coalesce(waiting_for_people_seconds, 0) AS waiting_for_people_seconds -- of these, or until the end, waiting for people
FROM workflows
LEFT JOIN money USING (tenant_id, workflow_id)
LEFT JOIN tried USING (tenant_id, workflow_id)
LEFT JOIN passed USING (tenant_id, workflow_id)
LEFT JOIN escalations USING (tenant_id, workflow_id)
LEFT JOIN people_waits USING (tenant_id, workflow_id)
WHERE workflows.settled_at IS NOT NULL;

-- Every rate, cost and time, over the workflows settled in a period: in all, by tenant, by workflow type, by UTC day.
CREATE VIEW metrics AS
SELECT
    tenant_id,                                      -- tenant; null = all
    workflow_type,                                  -- workflow type; null = all
    day_utc,                                        -- UTC day of the workflow's settlement; null = all
    count(*) AS settled,                            -- workflows settled
    count(*) FILTER (WHERE accepted) AS accepted,   -- workflows with development acceptance
    exact_ratio(count(*) FILTER (WHERE accepted), count(*)) AS verified_completion_rate, -- accepted / settled, 0 to 1, six digits; null when none settled
    coalesce(sum(cost_gbp), 0) AS cost_gbp,         -- pounds of all settled workflows, the failed ones included
    exact_ratio(sum(cost_gbp), count(*) FILTER (WHERE accepted)) AS cost_per_verified_completion_gbp, -- cost_gbp / accepted, in pounds, rounded half-even to six digits; null when none was accepted
    CAST(coalesce(sum(accepted_tasks), 0) AS BIGINT) AS accepted_tasks, -- tasks completed in settled workflows
    exact_ratio(sum(cost_gbp), sum(accepted_tasks)) AS cost_per_accepted_task_gbp, -- cost_gbp / accepted_tasks, in pounds, rounded half-even to six digits; null when none was accepted
    quantile_cont(completion_seconds, 0.5) AS median_seconds, -- from the contract's append to development acceptance, interpolated; null when none was accepted
    quantile_cont(completion_seconds, 0.95) AS p95_seconds, -- the same; of one row that row
    quantile_cont(waiting_for_people_seconds, 0.5) FILTER (WHERE accepted) AS median_waiting_for_people_seconds, -- of the completion time, waiting for people
    CAST(coalesce(sum(attempts), 0) AS BIGINT) AS attempts, -- claimed attempts
    CAST(coalesce(sum(retries), 0) AS BIGINT) AS retries, -- attempts beyond the first of their task and round
    exact_ratio(sum(retries), sum(attempts)) AS retry_rate, -- retries / attempts, 0 to 1, six digits; null when nothing was attempted
    CAST(coalesce(sum(tried_tasks), 0) AS BIGINT) AS tried_tasks, -- tasks attempted
    CAST(coalesce(sum(first_pass_tasks), 0) AS BIGINT) AS first_pass_tasks, -- tasks accepted with no earlier attempt or round
    exact_ratio(sum(first_pass_tasks), sum(tried_tasks)) AS first_pass_rate, -- first_pass_tasks / tried_tasks, 0 to 1, six digits; null when nothing was attempted
    CAST(coalesce(sum(reworks), 0) AS BIGINT) AS reworks, -- attempts whose evidence sent work back
    CAST(coalesce(sum(extra_rounds), 0) AS BIGINT) AS extra_rounds, -- rounds beyond each task's first
    count(*) FILTER (WHERE reworks > 0) AS reworked, -- workflows with rework
    exact_ratio(count(*) FILTER (WHERE reworks > 0), count(*)) AS rework_rate, -- reworked / settled, 0 to 1, six digits; null when none settled
    CAST(coalesce(sum(verifications), 0) AS BIGINT) AS verifications, -- times that a verifier ran a task's commands again and came to an answer
    CAST(coalesce(sum(verification_disagreements), 0) AS BIGINT) AS verification_disagreements, -- of these not what the task's own evidence shows
    exact_ratio(sum(verification_disagreements), sum(verifications)) AS verification_disagreement_rate, -- verification_disagreements / verifications, 0 to 1, six digits; null when nothing was verified
    count(*) FILTER (WHERE escalations > 0) AS escalated, -- workflows in which a task went to a person
    exact_ratio(count(*) FILTER (WHERE escalations > 0), count(*)) AS escalation_rate, -- escalated / settled, 0 to 1, six digits; null when none settled
    coalesce(sum(human_minutes), 0) AS human_minutes, -- people's minutes
    coalesce(sum(people_gbp), 0) AS people_gbp      -- pounds of these minutes, where the policy has a rate; part of cost_gbp
FROM settled_workflows
GROUP BY GROUPING SETS ((), (tenant_id), (tenant_id, workflow_type), (tenant_id, workflow_type, day_utc));

-- What one verified completion costs: cost of all workflows settled in the period / those accepted.
CREATE VIEW cost_per_verified_completion AS
SELECT
    tenant_id,                                      -- tenant; null = all
    workflow_type,                                  -- workflow type; null = all
    day_utc,                                        -- UTC day of the workflow's settlement; null = all
    cost_per_verified_completion_gbp,               -- cost_gbp / accepted, in pounds, rounded half-even to six digits; null when none was accepted
    cost_gbp,                                       -- pounds of all settled workflows, the failed ones included
    accepted,                                       -- workflows with development acceptance
    settled                                         -- workflows settled
FROM metrics;

-- What one accepted task costs: cost of all workflows settled in the period / tasks completed in them.
CREATE VIEW cost_per_accepted_task AS
SELECT
    tenant_id,                                      -- tenant; null = all
    workflow_type,                                  -- workflow type; null = all
    day_utc,                                        -- UTC day of the workflow's settlement; null = all
    cost_per_accepted_task_gbp,                     -- cost_gbp / accepted_tasks, in pounds, rounded half-even to six digits; null when none was accepted
    cost_gbp,                                       -- pounds of all settled workflows, the failed ones included
    accepted_tasks                                  -- tasks completed in settled workflows
FROM metrics;

-- From append of the contract to development acceptance, over accepted workflows.
CREATE VIEW completion_time AS
SELECT
    tenant_id,                                      -- tenant; null = all
    workflow_type,                                  -- workflow type; null = all
    day_utc,                                        -- UTC day of the workflow's settlement; null = all
    median_seconds,                                 -- from the contract's append to development acceptance, interpolated; null when none was accepted
    p95_seconds,                                    -- the same; of one row that row
    median_waiting_for_people_seconds,              -- of the completion time, waiting for people
    accepted                                        -- workflows with development acceptance
FROM metrics;

-- Accepted workflows / settled workflows.
CREATE VIEW verified_completion_rate AS
SELECT
    tenant_id,                                      -- tenant; null = all
    workflow_type,                                  -- workflow type; null = all
    day_utc,                                        -- UTC day of the workflow's settlement; null = all
    verified_completion_rate,                       -- accepted / settled, 0 to 1, six digits; null when none settled
    accepted,                                       -- workflows with development acceptance
    settled                                         -- workflows settled
FROM metrics;

-- Tasks accepted with no earlier attempt or round / tasks attempted, in settled workflows.
CREATE VIEW first_pass_rate AS
SELECT
    tenant_id,                                      -- tenant; null = all
    workflow_type,                                  -- workflow type; null = all
    day_utc,                                        -- UTC day of the workflow's settlement; null = all
    first_pass_rate,                                -- first_pass_tasks / tried_tasks, 0 to 1, six digits; null when nothing was attempted
    first_pass_tasks,                               -- tasks accepted with no earlier attempt or round
    tried_tasks                                     -- tasks attempted
FROM metrics;

-- Attempts that were not the first of their task and round / attempts, in settled workflows.
CREATE VIEW retry_rate AS
SELECT
    tenant_id,                                      -- tenant; null = all
    workflow_type,                                  -- workflow type; null = all
    day_utc,                                        -- UTC day of the workflow's settlement; null = all
    retry_rate,                                     -- retries / attempts, 0 to 1, six digits; null when nothing was attempted
    retries,                                        -- attempts beyond the first of their task and round
    attempts                                        -- claimed attempts
FROM metrics;

-- Work that evidence sent back, in settled workflows, and what people spent.
CREATE VIEW rework AS
SELECT
    tenant_id,                                      -- tenant; null = all
    workflow_type,                                  -- workflow type; null = all
    day_utc,                                        -- UTC day of the workflow's settlement; null = all
    rework_rate,                                    -- reworked / settled, 0 to 1, six digits; null when none settled
    reworked,                                       -- workflows with rework
    settled,                                        -- workflows settled
    reworks,                                        -- attempts whose evidence sent work back
    extra_rounds,                                   -- rounds beyond each task's first
    human_minutes,                                  -- people's minutes
    people_gbp                                      -- pounds of these minutes, where the policy has a rate; part of cost_gbp
FROM metrics;

-- Verifiers that did not see what a task's own evidence shows / verifiers that came to an answer, in settled workflows.
CREATE VIEW verification AS
SELECT
    tenant_id,                                      -- tenant; null = all
    workflow_type,                                  -- workflow type; null = all
    day_utc,                                        -- UTC day of the workflow's settlement; null = all
    verification_disagreement_rate,                 -- verification_disagreements / verifications, 0 to 1, six digits; null when nothing was verified
    verification_disagreements,                     -- verifiers that did not see what the task's own evidence shows
    verifications                                   -- times that a verifier ran a task's commands again and came to an answer
FROM metrics;

-- Settled workflows in which a task went to a person / settled workflows.
CREATE VIEW escalation_rate AS
SELECT
    tenant_id,                                      -- tenant; null = all
    workflow_type,                                  -- workflow type; null = all
    day_utc,                                        -- UTC day of the workflow's settlement; null = all
    escalation_rate,                                -- escalated / settled, 0 to 1, six digits; null when none settled
    escalated,                                      -- workflows in which a task went to a person
    settled                                         -- workflows settled
FROM metrics;

-- Why settled workflows ended.
CREATE VIEW stop_reasons AS
SELECT
    tenant_id,                                      -- tenant
    workflow_type,                                  -- workflow type
    day_utc,                                        -- UTC day of settlement
    stop_reason,                                    -- why it ended; accepted among them
    count(*) AS workflows,                          -- workflows
    sum(cost_gbp) AS cost_gbp                       -- pounds they cost
FROM settled_workflows
GROUP BY tenant_id, workflow_type, day_utc, stop_reason;

-- Tasks of open workflows, by pool: what waits where.
CREATE VIEW queue_depth AS
SELECT
    tasks.tenant_id,                                -- tenant
    tasks.pool,                                     -- pool
    count(*) FILTER (WHERE tasks.status = 'waiting') AS waiting, -- for their dependencies
    count(*) FILTER (WHERE tasks.status = 'queued') AS queued, -- for a worker
    count(*) FILTER (WHERE tasks.status = 'backing_off') AS backing_off, -- until their next attempt
    count(*) FILTER (WHERE tasks.status IN ('offered', 'running', 'correcting')) AS with_a_worker, -- offered or at work
    count(*) FILTER (WHERE tasks.status = 'awaiting_review') AS awaiting_review, -- the supervisor checks
    count(*) FILTER (WHERE tasks.status IN ('awaiting_decision', 'escalated')) AS with_a_person, -- a person has them
    min(tasks.since) FILTER (WHERE tasks.status = 'queued') AS oldest_queued_since -- since when the oldest waits for a worker
FROM tasks JOIN workflows USING (tenant_id, workflow_id)
WHERE workflows.status IN ('running', 'escalated') AND tasks.contract_version = workflows.contract_version
GROUP BY tasks.tenant_id, tasks.pool;

-- Limits of each workflow, what is spent of them, and what open attempts and lost leases still bind.
CREATE VIEW budget_use AS
WITH spent AS (
    SELECT tenant_id, workflow_id, sum(tokens_in + tokens_out) AS tokens, sum(tool_calls) AS tool_calls
    FROM attempt_costs GROUP BY tenant_id, workflow_id
), money AS (
    SELECT tenant_id, workflow_id, sum(usage_gbp) AS cost_gbp FROM bookings GROUP BY tenant_id, workflow_id
), bound AS (
    SELECT tenant_id, workflow_id,
        sum(CASE WHEN attempts.status = 'ended' THEN coalesce(held_cost_gbp, 0) ELSE coalesce(reserved_cost_gbp, 0) END) AS cost_gbp,
        sum(CASE WHEN attempts.status = 'ended' THEN coalesce(held_tokens, 0) ELSE coalesce(reserved_tokens, 0) END) AS tokens,
        sum(CASE WHEN attempts.status = 'ended' THEN coalesce(held_tool_calls, 0) ELSE coalesce(reserved_tool_calls, 0) END) AS tool_calls
    FROM attempts JOIN workflows USING (tenant_id, workflow_id)
    WHERE workflows.settled_at IS NULL GROUP BY tenant_id, workflow_id
)
SELECT
    workflows.tenant_id,                            -- tenant
    workflows.workflow_id,                          -- workflow
    workflows.workflow_type,                        -- workflow type
    workflows.status,                               -- where it stands
    workflows.max_cost_gbp,                         -- limit in pounds; null = none
    coalesce(money.cost_gbp, 0) AS spent_gbp,       -- booked, without people's minutes
    coalesce(bound.cost_gbp, 0) AS bound_gbp,       -- reserved by open attempts or held for lost ones
    workflows.max_cost_gbp - coalesce(money.cost_gbp, 0) - coalesce(bound.cost_gbp, 0) AS left_gbp, -- what is left; negative after an overrun
    exact_ratio(micros(coalesce(money.cost_gbp, 0)), micros(workflows.max_cost_gbp)) AS cost_share, -- spent / limit, six digits
    workflows.max_tokens,                           -- limit of tokens; null = none
    CAST(coalesce(spent.tokens, 0) AS BIGINT) AS spent_tokens, -- booked
    CAST(coalesce(bound.tokens, 0) AS BIGINT) AS bound_tokens, -- reserved or held
    workflows.max_tool_calls,                       -- limit of tool calls; null = none
    CAST(coalesce(spent.tool_calls, 0) AS BIGINT) AS spent_tool_calls, -- booked
    CAST(coalesce(bound.tool_calls, 0) AS BIGINT) AS bound_tool_calls -- reserved or held
FROM workflows
LEFT JOIN spent USING (tenant_id, workflow_id)
LEFT JOIN money USING (tenant_id, workflow_id)
LEFT JOIN bound USING (tenant_id, workflow_id)
WHERE workflows.contract_version IS NOT NULL;

-- What each worker did and cost, over all its attempts.
CREATE VIEW worker_use AS
SELECT
    attempts.worker_id,                             -- worker
    attempts.pool,                                  -- pool
    count(*) FILTER (WHERE claimed_at IS NOT NULL) AS attempts, -- claimed
    count(*) FILTER (WHERE outcome = 'accepted') AS accepted, -- accepted
    count(*) FILTER (WHERE first_pass) AS first_pass, -- accepted with no earlier attempt or round
    count(*) FILTER (WHERE claimed_at IS NOT NULL AND attempts.status = 'ended' AND outcome <> 'accepted') AS not_accepted, -- ended otherwise
    count(*) FILTER (WHERE claimed_at IS NULL AND status = 'ended') AS not_claimed, -- offers declined or left to expire
    coalesce(sum(cost_gbp), 0) AS cost_gbp          -- pounds booked
FROM attempts LEFT JOIN attempt_costs USING (tenant_id, workflow_id, attempt_id)
GROUP BY attempts.worker_id, attempts.pool;

-- One line per workflow: where it stands, what it cost, and whom it waits for.
CREATE VIEW workflow_list AS
WITH progress AS (
    SELECT tenant_id, workflow_id,
        count(*) FILTER (WHERE tasks.status = 'completed') AS tasks_done,
        count(*) AS tasks_total,
        string_agg(DISTINCT coalesce(tasks.waits_for, workflows.owner), ', ' ORDER BY coalesce(tasks.waits_for, workflows.owner))
            FILTER (WHERE tasks.status IN ('escalated', 'awaiting_decision')) AS waits_for
    FROM tasks JOIN workflows USING (tenant_id, workflow_id)
    WHERE tasks.contract_version = workflows.contract_version GROUP BY tenant_id, workflow_id
), money AS (
    SELECT tenant_id, workflow_id, sum(cost_gbp) AS cost_gbp FROM bookings GROUP BY tenant_id, workflow_id
)
SELECT
    workflows.tenant_id,                            -- tenant
    workflows.workflow_id,                          -- workflow
    workflows.workflow_type,                        -- workflow type
    workflows.status,                               -- where it stands
    coalesce(tasks_done, 0) AS tasks_done,          -- tasks completed
    coalesce(tasks_total, 0) AS tasks_total,        -- tasks of the contract that holds
    coalesce(money.cost_gbp, 0) AS spent_gbp,       -- pounds booked, people's minutes included
    workflows.owner,                                -- named owner
    CASE
        WHEN workflows.status = 'escalated' THEN waits_for
        WHEN workflows.status = 'accepted' AND deployment_authorisation = 'pending' THEN coalesce(authoriser, workflows.owner)
        WHEN workflows.status = 'quarantined' THEN workflows.owner
    END AS waits_for,                               -- the person it waits for, if any
    workflows.stop_reason,                          -- why it ended
    workflows.submitted_at,                         -- append time of the contract
    workflows.changed_at                            -- of its last transition
FROM workflows
LEFT JOIN progress USING (tenant_id, workflow_id)
LEFT JOIN money USING (tenant_id, workflow_id);
