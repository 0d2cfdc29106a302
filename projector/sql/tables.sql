-- What the projector holds. A comment above a table and after a column becomes its COMMENT in the database.
-- Every value comes from the log: none depends on wall time, nor on the order in which topics were read.

-- One row: what this database is.
CREATE TABLE meta (
    projection_version BIGINT,         -- version of the tables and views; another one needs `remit rebuild`
    newest_event_at TIMESTAMPTZ        -- freshness: append time of the newest record folded in; positions stand in offsets
);

-- How far each partition was read: committed together with the rows that follow from it.
CREATE TABLE offsets (
    topic VARCHAR,                     -- topic, without prefix
    partition BIGINT,                  -- partition
    next_offset BIGINT,                -- first offset not yet read, commit markers passed
    records BIGINT,                    -- records read, the skipped ones included
    skipped BIGINT,                    -- records that could not be used; they stand in skipped
    newest_at TIMESTAMPTZ,             -- append time of the newest record read
    PRIMARY KEY (topic, partition)
);

-- Records that could not be used, by their coordinates; the bytes stay in the log.
CREATE TABLE skipped (
    topic VARCHAR,                     -- topic, without prefix
    partition BIGINT,                  -- partition
    "offset" BIGINT,                   -- offset
    reason VARCHAR,                    -- undecodable, unknown_schema, misplaced or contract_unreadable
    record_sha256 VARCHAR,             -- SHA-256 of the record's value; of nothing for a null value
    size BIGINT,                       -- bytes of the value
    appended_at TIMESTAMPTZ            -- append time
);

-- History that the log no longer held and an operator chose to go on without.
CREATE TABLE gaps (
    topic VARCHAR,                     -- topic, without prefix
    partition BIGINT,                  -- partition
    expected_offset BIGINT,            -- first offset that is missing
    earliest_offset BIGINT             -- first offset that was still there
);

-- The fold's guard, one row per key of transitions: which sequence came last, and what was not accepted.
CREATE TABLE streams (
    stream VARCHAR,                    -- the key: tenant/workflow, or _shard/n for a shard's own notes
    sequence BIGINT,                   -- last sequence accepted
    generation BIGINT,                 -- newest writer generation seen
    conflict_sequence BIGINT,          -- sequence at which history forked or tore; nothing is accepted after it
    repeats BIGINT,                    -- the same transition again, ignored
    outdated BIGINT,                   -- transitions of an older generation behind a newer one, ignored
    conflicts BIGINT,                  -- transitions at and after conflict_sequence, ignored
    PRIMARY KEY (stream)
);

-- Every accepted transition, notes included: the history of each workflow.
CREATE TABLE transitions (
    stream VARCHAR,                    -- key of the record
    tenant_id VARCHAR,                 -- tenant
    workflow_id VARCHAR,               -- workflow
    sequence BIGINT,                   -- previous + 1 of its key
    version BIGINT,                    -- state version; notes don't raise it
    kind VARCHAR,                      -- what changed
    note BOOLEAN,                      -- true where only the sequence rose
    workflow_status VARCHAR,           -- status after it
    task_id VARCHAR,                   -- the task it is about
    attempt_id VARCHAR,                -- the attempt it is about
    worker_id VARCHAR,                 -- its worker
    fencing_token BIGINT,              -- its token
    attempt BIGINT,                    -- its number in the round
    round BIGINT,                      -- its round
    reason VARCHAR,                    -- reason code
    stop_reason VARCHAR,               -- why something ended or waits for a person
    person VARCHAR,                    -- who decided it
    minutes_spent DECIMAL(18, 6),      -- of that person
    decided_at TIMESTAMPTZ,            -- when, by the log's clock
    appended_at TIMESTAMPTZ,           -- append time of the record
    event_id VARCHAR,                  -- its id
    cause_event_id VARCHAR,            -- the event it follows from
    cause_topic VARCHAR,               -- topic of that event; null for a timer
    cause_partition BIGINT,            -- its partition
    cause_offset BIGINT,               -- its offset
    policy_sha256 VARCHAR,             -- the pinned policy
    decider_version BIGINT,            -- version of the code that decided
    writer_instance VARCHAR,           -- supervisor that wrote it
    writer_generation BIGINT,          -- its generation
    partition BIGINT,                  -- partition of the record
    "offset" BIGINT                    -- offset of the record
);

-- Every change of a task's status, in order of sequence.
CREATE TABLE task_changes (
    tenant_id VARCHAR,                 -- tenant
    workflow_id VARCHAR,               -- workflow
    sequence BIGINT,                   -- sequence of the transition
    task_id VARCHAR,                   -- task
    status VARCHAR,                    -- its new status
    round BIGINT,                      -- its round
    reason VARCHAR,                    -- why, where there is a reason
    decided_at TIMESTAMPTZ             -- when, by the log's clock
);

-- One row per workflow: its contract, and where it stands.
CREATE TABLE workflows (
    tenant_id VARCHAR,                 -- tenant
    workflow_id VARCHAR,               -- workflow
    status VARCHAR,                    -- running, escalated, accepted, authorised, committing, applied, stopped, quarantined or rejected
    sequence BIGINT,                   -- last sequence folded in
    version BIGINT,                    -- state version that users and proposals name
    changed_at TIMESTAMPTZ,            -- of the last transition, by the log's clock
    policy_sha256 VARCHAR,             -- the pinned policy
    workflow_type VARCHAR,             -- the contract's workflow type
    owner VARCHAR,                     -- named owner
    objective VARCHAR,                 -- what it is for
    data_classification VARCHAR,       -- of its data
    contract_version BIGINT,           -- contract version that holds
    contract_sha256 VARCHAR,           -- of the contract's normal form
    content_digest VARCHAR,            -- of the document as submitted or drafted
    submitter VARCHAR,                 -- who submitted it
    proposed_by VARCHAR,               -- worker that drafted the version that holds
    approved_by VARCHAR,               -- rule or person that approved that version
    submitted_at TIMESTAMPTZ,          -- append time of the contract
    deadline_at TIMESTAMPTZ,           -- end of its elapsed time
    max_cost_gbp DECIMAL(18, 6),       -- limit in pounds; null = none
    max_tokens BIGINT,                 -- limit of tokens in and out; null = none
    max_tool_calls BIGINT,             -- limit of tool calls; null = none
    development_acceptance VARCHAR,    -- approved, once the final gate held
    deployment_authorisation VARCHAR,  -- not_required or pending; another authority's decision
    authoriser VARCHAR,                -- who must authorise deployment
    final_subjects VARCHAR[],          -- what was accepted: repository@revision or a digest
    accepted_at TIMESTAMPTZ,           -- development acceptance, by the log's clock
    settled_at TIMESTAMPTZ,            -- development acceptance, or the end without it; null while open or quarantined
    stop_reason VARCHAR,               -- why it ended
    stop_detail VARCHAR,               -- for people
    stopped_by VARCHAR,                -- person that ended it
    rejected_digest VARCHAR,           -- content digest of the last rejected submission
    rejected_faults VARCHAR[],         -- its faults: path and rule
    PRIMARY KEY (tenant_id, workflow_id)
);

-- One row per task of a contract, and where it stands.
CREATE TABLE tasks (
    tenant_id VARCHAR,                 -- tenant
    workflow_id VARCHAR,               -- workflow
    task_id VARCHAR,                   -- task
    contract_version BIGINT,           -- newest contract version that has it
    ordinal BIGINT,                    -- its place in the contract, from 1
    task_type VARCHAR,                 -- type
    capability VARCHAR,                -- what its worker must be able to do
    pool VARCHAR,                      -- its workers' pool
    objective VARCHAR,                 -- what it is for
    risk_class VARCHAR,                -- low, medium or high
    depends_on VARCHAR[],              -- tasks that must be completed before
    max_cost_gbp DECIMAL(18, 6),       -- limit in pounds; null = none
    max_tokens BIGINT,                 -- limit of tokens; null = none
    max_tool_calls BIGINT,             -- limit of tool calls; null = none
    max_attempts BIGINT,               -- limit of attempts per round; null = none
    deadline_seconds BIGINT,           -- seconds from the first claim; null = none
    status VARCHAR,                    -- where it stands
    round BIGINT,                      -- its round
    reason VARCHAR,                    -- why it stands there, where there is a reason
    waits_for VARCHAR,                 -- the person who has it, while escalated or awaiting a decision
    since TIMESTAMPTZ,                 -- since when it stands there, by the log's clock
    sequence BIGINT,                   -- sequence of that change
    PRIMARY KEY (tenant_id, workflow_id, task_id)
);

-- One row per offer of a task to a worker; an attempt counts once it was claimed.
CREATE TABLE attempts (
    attempt_id VARCHAR,                -- attempt
    tenant_id VARCHAR,                 -- tenant
    workflow_id VARCHAR,               -- workflow
    task_id VARCHAR,                   -- task
    attempt BIGINT,                    -- its number in the round, counted at the claim
    round BIGINT,                      -- its round
    fencing_token BIGINT,              -- its token
    worker_id VARCHAR,                 -- its worker
    incarnation VARCHAR,               -- the worker process
    pool VARCHAR,                      -- the worker's pool
    contract_sha256 VARCHAR,           -- hash of the task contract worked on
    status VARCHAR,                    -- offered, running, awaiting_review or ended
    queued_at TIMESTAMPTZ,             -- since when the task waited
    offered_at TIMESTAMPTZ,            -- when it was dispatched
    offer_until TIMESTAMPTZ,           -- end of the offer
    claimed_at TIMESTAMPTZ,            -- when it was claimed; null = never, and no attempt is counted
    deadline_at TIMESTAMPTZ,           -- hard end of the task
    submitted_at TIMESTAMPTZ,          -- when its result went to inspection
    handler_started_at TIMESTAMPTZ,    -- start of the work, by the runner's clock
    handler_ended_at TIMESTAMPTZ,      -- end of the work, by the runner's clock
    ended_at TIMESTAMPTZ,              -- when it ended, by the log's clock
    outcome VARCHAR,                   -- accepted, refused, failed, declined, expired (an offer nobody claimed), silence, ...
    error_class VARCHAR,               -- class of the failure
    faults VARCHAR[],                  -- path or rule, one each
    recovery VARCHAR,                  -- what followed: retry, reassign, rework, escalate or none
    recovery_reason VARCHAR,           -- why it escalated
    rework_task VARCHAR,               -- the task that had to mend it
    not_before TIMESTAMPTZ,            -- end of the back-off
    first_pass BOOLEAN,                -- accepted with no earlier attempt or round
    subject VARCHAR,                   -- what the accepted work is about: repository@revision or a digest
    reserved_cost_gbp DECIMAL(18, 6),  -- reserved at dispatch, pounds
    reserved_tokens BIGINT,            -- reserved at dispatch
    reserved_tool_calls BIGINT,        -- reserved at dispatch
    held_cost_gbp DECIMAL(18, 6),      -- still held after a lost lease, pounds
    held_tokens BIGINT,                -- still held
    held_tool_calls BIGINT,            -- still held
    price_entry VARCHAR,               -- the policy's price entry
    per_1k_tokens_in DECIMAL(18, 6),   -- its price, pounds
    per_1k_tokens_out DECIMAL(18, 6),  -- its price, pounds
    per_tool_call DECIMAL(18, 6),      -- its price, pounds
    per_worker_second DECIMAL(18, 6),  -- its price, pounds
    PRIMARY KEY (attempt_id)
);

-- One row per requirement of a contract, and whether the final gate found it held.
CREATE TABLE requirements (
    tenant_id VARCHAR,                 -- tenant
    workflow_id VARCHAR,               -- workflow
    requirement_id VARCHAR,            -- requirement
    contract_version BIGINT,           -- newest contract version that has it
    text VARCHAR,                      -- the contract's words
    source VARCHAR,                    -- definition_of_done, must_preserve or security
    mandatory BOOLEAN,                 -- blocks acceptance
    security BOOLEAN,                  -- a security requirement
    checks VARCHAR[],                  -- ids of its checks
    tasks VARCHAR[],                   -- tasks that must yield the evidence
    held BOOLEAN,                      -- valid evidence at its subject; null until judged
    judged_at TIMESTAMPTZ,             -- when the final gate judged it
    PRIMARY KEY (tenant_id, workflow_id, requirement_id)
);

-- Every evidence record that a verdict rests on; references and hashes, no payloads.
CREATE TABLE evidence (
    tenant_id VARCHAR,                 -- tenant
    workflow_id VARCHAR,               -- workflow
    sequence BIGINT,                   -- sequence of the verdict
    ordinal BIGINT,                    -- place in it, from 1
    task_id VARCHAR,                   -- task
    attempt_id VARCHAR,                -- attempt it was taken in
    worker_id VARCHAR,                 -- who ran the attempt
    kind VARCHAR,                      -- revision, test_run, scan, command, review or document
    observed_by VARCHAR,               -- runner or worker
    accepted BOOLEAN,                  -- the verdict was acceptance
    failing BOOLEAN,                   -- it is what sent the work back
    checks VARCHAR[],                  -- the contract's checks it speaks to
    command VARCHAR,                   -- the contract's command
    form VARCHAR,                      -- full or retest
    argv VARCHAR[],                    -- the command line as run
    subject VARCHAR,                   -- repository@revision or a digest
    exit_status BIGINT,                -- of the command
    passed_cases VARCHAR[],            -- test ids
    failed_cases VARCHAR[],            -- test ids
    skipped_cases VARCHAR[],           -- test ids
    findings BIGINT,                   -- what a scanner found
    output_reference VARCHAR,          -- captured or declared output
    output_sha256 VARCHAR,             -- its hash
    report_reference VARCHAR,          -- machine-written report
    report_sha256 VARCHAR,             -- its hash
    environment_digest VARCHAR,        -- of interpreter, platform, distributions
    started_at TIMESTAMPTZ,            -- by the runner's clock
    ended_at TIMESTAMPTZ               -- by the runner's clock
);

-- Why each offer went where it went: every registered worker of the pool, and the first rule that excluded it.
CREATE TABLE routes (
    tenant_id VARCHAR,                 -- tenant
    workflow_id VARCHAR,               -- workflow
    sequence BIGINT,                   -- sequence of the dispatch
    ordinal BIGINT,                    -- place in the list, from 1
    task_id VARCHAR,                   -- task
    attempt_id VARCHAR,                -- attempt offered
    pool VARCHAR,                      -- pool
    worker_id VARCHAR,                 -- candidate
    chosen BOOLEAN,                    -- it got the offer
    excluded_by VARCHAR,               -- first rule that excluded it; null for the chosen one
    registry_offset BIGINT,            -- next offset of workers when routed
    decided_at TIMESTAMPTZ             -- when, by the log's clock
);

-- What people decided, as they sent it; what became of it stands in transitions under the same cause.
CREATE TABLE decisions (
    tenant_id VARCHAR,                 -- tenant
    workflow_id VARCHAR,               -- workflow
    event_id VARCHAR,                  -- its id
    kind VARCHAR,                      -- approve, refuse, resolve, extend_budget or cancel
    person VARCHAR,                    -- who
    task_id VARCHAR,                   -- the task decided on; null = the workflow
    item_id VARCHAR,                   -- the inbox item
    content_sha256 VARCHAR,            -- the exact content decided on
    state_version BIGINT,              -- the version read
    reason VARCHAR,                    -- for people
    resolution VARCHAR,                -- of a resolve
    minutes_spent DECIMAL(18, 6),      -- the person's time
    appended_at TIMESTAMPTZ,           -- append time
    partition BIGINT,                  -- partition of the record
    "offset" BIGINT,                   -- offset of the record
    PRIMARY KEY (tenant_id, workflow_id, event_id)
);

-- Every booking, one row per transition that books; their sum is what was spent. Minutes are priced in the view bookings.
CREATE TABLE costs (
    tenant_id VARCHAR,                 -- tenant
    workflow_id VARCHAR,               -- workflow
    sequence BIGINT,                   -- sequence of the transition that booked it
    kind VARCHAR,                      -- settlement, late_usage (a difference in pounds) or minutes (only a person's time)
    task_id VARCHAR,                   -- task
    attempt_id VARCHAR,                -- attempt
    worker_id VARCHAR,                 -- worker
    round BIGINT,                      -- round
    cost_gbp DECIMAL(18, 6),           -- pounds, at the recorded price
    tokens_in BIGINT,                  -- of the attempt; a late report replaces the one before
    tokens_out BIGINT,                 -- of the attempt; a late report replaces the one before
    tool_calls BIGINT,                 -- of the attempt; a late report replaces the one before
    worker_seconds DECIMAL(18, 6),     -- of the attempt; a late report replaces the one before
    model VARCHAR,                     -- model used
    estimated BOOLEAN,                 -- nothing was reported: the reservation was booked
    overrun BOOLEAN,                   -- beyond the reservation
    minutes_spent DECIMAL(18, 6),      -- of a person
    policy_sha256 VARCHAR,             -- policy whose rate prices the minutes
    booked_at TIMESTAMPTZ,             -- when, by the log's clock
    cause_event_id VARCHAR             -- the event it follows from
);

-- What each applied policy says a person's minute costs.
CREATE TABLE policies (
    policy_sha256 VARCHAR,             -- of the policy's exact text
    human_minute_gbp DECIMAL(18, 6),   -- pounds per minute; null where the text can't be read as a policy
    environment VARCHAR,               -- development, staging or production
    author VARCHAR,                    -- who applied it first
    applied_at TIMESTAMPTZ,            -- append time of its first record
    PRIMARY KEY (policy_sha256)
);

-- Records that a service could not use; the bytes stay at the source.
CREATE TABLE dead_letters (
    source_topic VARCHAR,              -- topic, without prefix
    source_partition BIGINT,           -- partition
    source_offset BIGINT,              -- offset
    kind VARCHAR,                      -- undecodable, not_allowed, unknown_workflow or misplaced
    tenant_id VARCHAR,                 -- tenant, where known
    workflow_id VARCHAR,               -- workflow, where known
    record_sha256 VARCHAR,             -- of the record's value
    size BIGINT,                       -- bytes of the value
    reason VARCHAR,                    -- where and why, never a value
    event_id VARCHAR,                  -- its id
    appended_at TIMESTAMPTZ,           -- append time of the dead letter
    PRIMARY KEY (source_topic, source_partition, source_offset)
);
