/** Mutants that no test notices, each with the reason why none is needed. */
export interface Accepted {
  readonly file: string;
  /** The line where the change begins, without the spaces around it. */
  readonly source: string;
  /** As `npm run mutate` prints it. */
  readonly change: string;
  readonly why: string;
}

type Change = readonly [source: string, change: string, why: string];

/** Mutants of one file. */
function of(file: string, ...changes: readonly Change[]): readonly Accepted[] {
  return changes.map(([source, change, why]) => ({ file: `src/${file}`, source, change, why }));
}

export const ACCEPTED: readonly Accepted[] = [
  ...of(
    "domain/lots.ts",
    [
      "if (lot_id === null || (added.given === 0 && added.bought === 0)) return credits;",
      "lot_id === null || (added.given === 0 && added.bought === 0) → lot_id === null",
      "a note of 0 credits says what no note says",
    ],
    [
      "return app_slugs === null || (app_slug !== null && app_slugs.includes(app_slug));",
      "app_slug !== null && app_slugs.includes(app_slug) → app_slugs.includes(app_slug)",
      "no list of apps has null; the types need the comparison",
    ],
    [
      "(one.id < other.id ? -1 : 1),",
      "one.id < other.id → one.id <= other.id",
      "no two lots have the same name",
    ],
    ["(one.id < other.id ? -1 : 1),", "1 → 2", "only the sign of a comparison counts"],
    [
      "(one.id < other.id ? -1 : 1),",
      "1 → 0",
      "for a stable sort, 0 and 1 leave two values in their order",
    ],
    [
      "if (credits < part.credits) rest.push({ ...part, credits: part.credits - credits });",
      "credits < part.credits → true",
      "giving back a part of 0 credits changes nothing",
    ],
    [
      "if (credits < part.credits) rest.push({ ...part, credits: part.credits - credits });",
      "credits < part.credits → credits <= part.credits",
      "giving back a part of 0 credits changes nothing",
    ],
    [
      "if (lot === undefined || kept === 0) {",
      "lot === undefined || kept === 0 → kept === 0",
      "without a lot, nothing is kept; the types need the comparison",
    ],
    [
      "if (taken > 0) now = moved(now, { lot_id: lot.id, bought: true }, 0 - taken);",
      "true → false",
      "a part of a lot is changed by the lot's name only",
    ],
  ),
  ...of("domain/allowance.ts", [
    "if (app_slug !== null && app_slugs.includes(app_slug)) return null;",
    "app_slug !== null && app_slugs.includes(app_slug) → app_slugs.includes(app_slug)",
    "no list of apps has null; the types need the comparison",
  ]),
  ...of(
    "domain/client_credentials.ts",
    [
      "if (encoded === undefined) return null;",
      "encoded === undefined → false",
      "the text `undefined` is not base64, which ends the same; the types need the comparison",
    ],
    ["if (colon < 0) return null;", "colon < 0 → colon <= 0", "an empty id is malformed later too"],
    ["if (colon < 0) return null;", "0 → 1", "an empty id is malformed later too"],
  ),
  ...of(
    "domain/client_description.ts",
    [
      "const names = [city, country === null ? null : countryName(country, language)];",
      "country === null → false",
      "the name of no country is null too; the types need the comparison",
    ],
    [
      'return new Intl.DisplayNames([language], { type: "region" }).of(country) ?? country;',
      'new Intl.DisplayNames([language], { type: "region" }).of(country) ?? country → new Intl.DisplayNames([language], { type: "region" }).of(country)',
      "an unknown region is named by its code; the types need the other side",
    ],
  ),
  ...of("domain/currency.ts", [
    'const text = moneyText(amount_minor, currency).split(" ")[0]?.replaceAll(",", "") ?? "";',
    'moneyText(amount_minor, currency).split(" ")[0]?.replaceAll(",", "") ?? "" → moneyText(amount_minor, currency).split(" ")[0]?.replaceAll(",", "")',
    "a text that is split has a first part; the types need the other side",
  ]),
  ...of(
    "domain/started_by.ts",
    [
      "return app_slugs.length === 1 ? (app_slugs[0] ?? null) : null;",
      "app_slugs[0] ?? null → app_slugs[0]",
      "a list of one has a first one; the types need the other side",
    ],
    [
      "return started_by_json === null ? null : (JSON.parse(started_by_json) as Starter);",
      "started_by_json === null → false",
      "null is read as the text `null`, which is null; the types need the comparison",
    ],
  ),
  ...of(
    "domain/token_exchange.ts",
    [
      "(expires_at_ms ?? Infinity) < parent.expires_at_ms",
      "expires_at_ms ?? Infinity → expires_at_ms",
      "undefined is not below a number either; the types need the other side",
    ],
    [
      'if ((narrowing.expires_at_ms ?? 0) > parent.expires_at_ms) return "later_expiry";',
      "narrowing.expires_at_ms ?? 0 → narrowing.expires_at_ms",
      "undefined is not above a number either; the types need the other side",
    ],
  ),
  ...of(
    "domain/token_family.ts",
    [
      'if (presented > family.generation) return "refuse";',
      "presented > family.generation → presented >= family.generation",
      "the function has returned before if the two are equal",
    ],
    ...[
      "one === null || other === null → false",
      "one === null || other === null → one === null && other === null",
      "one === null || other === null → one === null",
      "one === null || other === null → other === null",
    ].map((change): Change => [
      "if (one === null || other === null) return one === other;",
      change,
      "the key of null is null; the types need the comparisons",
    ]),
  ),
  ...of(
    "domain/text.ts",
    ...["found.codePointAt(0) ?? 0 → found.codePointAt(0)", "0 → 1"].map((change): Change => [
      'return `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;',
      change,
      "what was found has a first character; the types need the other side",
    ]),
  ),
  ...of(
    "domain/calendar.ts",
    ...[
      "year === undefined || month === undefined → year === undefined && month === undefined",
      "year === undefined || month === undefined → year === undefined",
      "year === undefined || month === undefined → month === undefined",
    ].map((change): Change => [
      "if (year === undefined || month === undefined) return null;",
      change,
      "a text has both parts or none; the types need both comparisons",
    ]),
  ),
  ...of(
    "domain/purchases.ts",
    [
      "state: rank(one) >= rank(other) ? one.state : other.state,",
      "rank(one) >= rank(other) → rank(one) > rank(other)",
      "two states of the same rank are the same state",
    ],
    [
      "return back_minor >= BigInt(paid_minor) ? paid_minor : Number(back_minor);",
      "back_minor >= BigInt(paid_minor) → back_minor > BigInt(paid_minor)",
      "both branches return the same number if the two are equal",
    ],
  ),
  ...of("domain/starter_rule.ts", [
    "const { email = null, email_verified = false } = person ?? {};",
    "false → true",
    "a person without data has no address, which excludes them too",
  ]),
  ...of("domain/device_login.ts", [
    'const opened = state.phase.name === "pending" && state.phase.opened_by === identity_id;',
    'state.phase.name === "pending" && state.phase.opened_by === identity_id → state.phase.opened_by === identity_id',
    "a login that is not pending was refused before; the types need the comparison",
  ]),
  ...of(
    "domain/history.ts",
    ["let last_step = -1;", "1 → 2", "no step has a number below 0"],
    ["let last_step = -1;", "1 → 0", "nothing can be removed before the first step"],
    [
      "({ credits }, index) => index === 0 || credits !== sampled[index - 1]?.credits,",
      "index === 0 || credits !== sampled[index - 1]?.credits → credits !== sampled[index - 1]?.credits",
      "a number differs from undefined too",
    ],
  ),
  ...of("domain/job.ts", [
    'if (spent !== null && spent > reserved) return refused({ code: "spent_limit", limit: reserved });',
    "spent !== null && spent > reserved → spent > reserved",
    "null is compared as 0, and no reserve is below 0; the types need the comparison",
  ]),
  ...of(
    "domain/error_budget.ts",
    [
      "const [[value, part] = [null, 0]] = parts.toSorted(([, one], [, other]) => other - one);",
      "0 → 1",
      "without requests no reason is shown",
    ],
    ...["1 → 2", "1 → 0"].map((change): Change => [
      'return `${name} ${value ?? "unknown"} (${Math.round((100 * part) / Math.max(all, 1))}%)`;',
      change,
      "a reason is shown only if its sum is above 20",
    ]),
  ),
  ...of("domain/liability.ts", [
    "if (currency === null || credits === 0) return sum;",
    "currency === null || credits === 0 → currency === null",
    "a sum leaves out what is 0",
  ]),
  ...of(
    "domain/plans.ts",
    [
      "const returned = { version: 0, name: null, anchor_ms: own.anchor_ms, rules: back, left: others };",
      "0 → 1",
      "the next line replaces the version",
    ],
    [
      "const share = Number.parseInt(account_id.slice(0, 8), 16) / 2 ** 32;",
      "account_id.slice(0, 8) → account_id",
      "the number ends at the first hyphen of an id",
    ],
    [
      "const share = Number.parseInt(account_id.slice(0, 8), 16) / 2 ** 32;",
      "8 → 9",
      "the number ends at the first hyphen of an id",
    ],
    [
      "return plan_json === null ? null : (JSON.parse(plan_json) as RunningPlan);",
      "plan_json === null → false",
      "null is read as the text `null`, which is null; the types need the comparison",
    ],
  ),
  ...of(
    "domain/statement.ts",
    [
      "const newest = job_id === null ? null : source.newestOf(job_id);",
      "job_id === null → false",
      "no job has the id null; the types need the comparison",
    ],
    ...[
      "newest === null || job_id === null → false",
      "newest === null || job_id === null → newest === null && job_id === null",
      "newest === null || job_id === null → newest === null",
      "newest === null || job_id === null → job_id === null",
    ].map((change): Change => [
      "if (newest === null || job_id === null) return [entry];",
      change,
      "without a newest entry no entry of the job is found, which ends the same; the types need the comparison",
    ]),
  ),
  ...of(
    "domain/archive_chain.ts",
    [
      'if (range.first < next_line) this.#report(`${name} repeats entries of ${before?.name ?? ""}`);',
      'before?.name ?? "" → before?.name',
      "only a segment after another one can repeat entries; the types need the other side",
    ],
    [
      '`${this.#before?.name ?? ""} is newer than the newest segment, which ends with entry ${head.line}`,',
      'this.#before?.name ?? "" → this.#before?.name',
      "only a segment can be newer; the types need the other side",
    ],
  ),
  ...of("domain/archive_proof.ts", [
    "const is_undone = ranges.some(({ first, last }) => line >= first && line <= last);",
    "line >= first && line <= last → line >= first",
    "the restores that are compared are later ones, so their ranges end after this one",
  ]),
  ...of(
    "domain/archive_segment.ts",
    ...[
      "first === undefined || last === undefined → false",
      "first === undefined || last === undefined → first === undefined && last === undefined",
      "first === undefined || last === undefined → first === undefined",
      "first === undefined || last === undefined → last === undefined",
    ].map((change): Change => [
      "if (first === undefined || last === undefined) return null;",
      change,
      "a name has both numbers or none, and no comparison with none is true; the types need both comparisons",
    ]),
    [
      'const header = objectOf(lines[0] ?? "");',
      'lines[0] ?? "" → lines[0]',
      "a text that is split has a first line, or it was refused before; the types need the other side",
    ],
  ),
  ...of(
    "domain/authorize_request.ts",
    [
      "state: state?.length === 1 ? (state[0] ?? null) : null,",
      "state[0] ?? null → state[0]",
      "a list of one has a first one; the types need the other side",
    ],
    [
      'const payload = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");',
      'token.split(".")[1] ?? "" → token.split(".")[1]',
      "an empty payload is malformed, and so is none; the types need the other side",
    ],
  ),
  ...of(
    "domain/client_document.ts",
    [
      'const [, max_age = "0"] = /(?:^|[\\s,])max-age=(\\d{1,10})/i.exec(cache_control ?? "") ?? [];',
      'cache_control ?? "" → cache_control',
      "null is compared as the text `null`, which does not match; the types need the other side",
    ],
    [
      'return /^application\\/(?:[a-z0-9.-]+\\+)?json\\s*(?:;|$)/i.test(content_type ?? "");',
      'content_type ?? "" → content_type',
      "null is compared as the text `null`, which does not match; the types need the other side",
    ],
  ),
  ...of("domain/consent.ts", [
    "expires_in !== undefined && now_ms + expires_in * 1000 < present.expires_at_ms;",
    "expires_in !== undefined && now_ms + expires_in * 1000 < present.expires_at_ms → now_ms + expires_in * 1000 < present.expires_at_ms",
    "no sum with undefined is below a number; the types need the comparison",
  ]),
  ...of(
    "domain/near_miss.ts",
    [
      "return Object.hasOwn(SYNONYMS, letters) ? (SYNONYMS[letters] ?? []) : [];",
      "SYNONYMS[letters] ?? [] → SYNONYMS[letters]",
      "an own member has a value; the types need the other side",
    ],
    [
      "known_letters.set(name, letters);",
      "known_letters.set(name, letters); → nothing",
      "the map only saves work",
    ],
    [
      "if (Math.abs(typed.length - name.length) > allowed) return false;",
      "Math.abs(typed.length - name.length) > allowed → false",
      "the line only saves work: names that differ in length need as many edits",
    ],
    ["const columns = other.length + 1;", "1 → 2", "nothing reads a column after the last letter"],
    [
      "for (let column = 1; column < columns; column += 1) {",
      "column < columns → column <= columns",
      "nothing reads a column after the last letter",
    ],
    [
      "for (let row = 1; row <= one.length; row += 1) {",
      "1 → 0",
      "without a letter, the row is computed as it was",
    ],
    ...[
      "swapped && row > 1 && column > 1 → swapped && row > 1",
      "swapped && row > 1 → swapped",
      "row > 1 → row >= 1",
      "column > 1 → column >= 1",
      "1 → 0",
    ].map((change): Change => [
      "if (swapped && row > 1 && column > 1) edits = Math.min(edits, before[column - 2]! + 1);",
      change,
      "two letters are swapped only if each name has two",
    ]),
  ),
  ...of(
    "domain/operators.ts",
    [
      'if (operator.kind === "identity") return 2;',
      "2 → 3",
      "only the order of the numbers counts",
    ],
    [
      "if (email === null || vouched_by === null) return false;",
      "email === null || vouched_by === null → email === null",
      "no provider has the id null; the types need the comparison",
    ],
  ),
  ...of(
    "domain/origins.ts",
    ...[
      'url === null || url.username !== "" || url.password !== "" → url === null || url.username !== "" && url.password !== ""',
      'url === null || url.username !== "" || url.password !== "" → url === null || url.username !== ""',
      'url === null || url.username !== "" → url === null',
    ].map((change): Change => [
      'if (url === null || url.username !== "" || url.password !== "") return null;',
      change,
      "the pattern below refuses every address with an at sign before its path",
    ]),
    [
      'const [address = ""] = text.slice(0, REDIRECT_MAX_LENGTH).split(/[?#]/, 1);',
      "text.slice(0, REDIRECT_MAX_LENGTH) → text",
      "it only saves work: less of the address is shown",
    ],
    [
      'const [address = ""] = text.slice(0, REDIRECT_MAX_LENGTH).split(/[?#]/, 1);',
      "1 → 2",
      "only the first part is used",
    ],
    [
      "if (wildcard?.[1] !== undefined) {",
      "1 → 0",
      "a match has its group; the types need the comparison",
    ],
    [
      '(allowed) => allowed.kind === "subdomains" && `.${domain}`.endsWith(allowed.suffix),',
      'allowed.kind === "subdomains" && `.${domain}`.endsWith(allowed.suffix) → `.${domain}`.endsWith(allowed.suffix)',
      "no domain ends with the text `undefined`; the types need the comparison",
    ],
    [
      '? `.${URL.parse(allowed.origin)?.hostname ?? ""}`.endsWith(`.${domain}`)',
      'URL.parse(allowed.origin)?.hostname ?? "" → URL.parse(allowed.origin)?.hostname',
      "an entry of the list can be parsed; the types need the other side",
    ],
  ),
  ...of("domain/proof.ts", [
    'return scopes !== "all" && scopes.includes(CHARGE_SCOPE);',
    'scopes !== "all" && scopes.includes(CHARGE_SCOPE) → scopes.includes(CHARGE_SCOPE)',
    "the text `all` does not have the scope; it is compared so that this is no accident",
  ]),
  ...of(
    "domain/redirect_match.ts",
    ...[
      "host === undefined || rest === undefined → host === undefined && rest === undefined",
      "host === undefined || rest === undefined → host === undefined",
      "host === undefined || rest === undefined → rest === undefined",
    ].map((change): Change => [
      "if (host === undefined || rest === undefined || Number(port) > PORT_MAX) return null;",
      change,
      "an address has both parts or none; the types need both comparisons",
    ]),
  ),
  ...of(
    "domain/webhook_samples.ts",
    ...(
      [
        ["step: 3,", 3],
        ["spent: 10,", 10],
        ["return { ...OF_ACCOUNT, bought: 50 };", 50],
        ["return { ...OF_ACCOUNT, spendable: 80, threshold: 100 };", 80],
        ["return { ...OF_ACCOUNT, spendable: 80, threshold: 100 };", 100],
        ["return { ...OF_ACCOUNT, lot_id: OTHER, expiring: 20, expires_at: soon };", 20],
        ["return { ...OF_ACCOUNT, lot_id: OTHER, expired: 20 };", 20],
        ['return { ...OF_ACCOUNT, reason: "declined", attempt: 1 };', 1],
        ["credits: 25,", 25],
        ['cap: { credits: 100, period: "day" },', 100],
        ['actual_cost: state === "completed" ? 25 : 0,', 25],
      ] as const
    ).flatMap(([source, number]): readonly Change[] =>
      [number + 1, number - 1].map((other) => [
        source,
        `${number} → ${other}`,
        "a sample may have any number",
      ]),
    ),
    ["done: 0.4,", "0.4 → 1.4", "a sample may have any number"],
  ),
  ...of("domain/wire.ts", [
    "metadata: row.metadata_json === null ? null : (JSON.parse(row.metadata_json) as object),",
    "row.metadata_json === null → false",
    "null is read as the text `null`, which is null; the types need the comparison",
  ]),
  ...of(
    "account/allowances/allowances.ts",
    ...[
      ["limits.app_slugs === null", "limits.app_slugs"],
      ["app_slugs === null", "app_slugs"],
    ].map(([condition = "", slugs = ""]): Change => [
      `app_slugs_json: ${condition} ? null : JSON.stringify(${slugs}),`,
      `${condition} → false`,
      "null is stored as the text `null`, which is read as null; the comparison saves bytes",
    ]),
    [
      "const last_use_ms = Math.max(row.last_used_at_ms ?? 0, renewals.get(row.id) ?? 0);",
      "row.last_used_at_ms ?? 0 → row.last_used_at_ms",
      "the greatest of null and a time is the time; the types need the other side",
    ],
  ),
  ...of(
    "account/allowances/spending.ts",
    [
      "if (not_for_app !== null || !isCapped(transaction)) return not_for_app;",
      "not_for_app !== null || !isCapped(transaction) → not_for_app !== null",
      "without a cap no credits exceed one; the comparison saves reading",
    ],
    [
      "return exceeded === null || allowance_id === undefined ? exceeded : { ...exceeded, allowance_id };",
      "exceeded === null || allowance_id === undefined → exceeded === null",
      "a cap that is exceeded belongs to an allowance; the types need the comparison",
    ],
    ["credits > 0", "credits > 0 → credits >= 0", "what 0 credits do to a cap is not stored"],
    [
      "return { takings_json: JSON.stringify(credits > 0 ? withTaking(left, taking, caps) : left) };",
      "credits > 0 → credits >= 0",
      "a taking of 0 credits adds nothing to what a job has taken",
    ],
  ),
  ...of(
    "account/jobs/claims.ts",
    [
      "if (job.claimed_until_ms !== null) store.deadlines.deleteClaim(job.id, job.claimed_until_ms);",
      "job.claimed_until_ms !== null → true",
      "no claim ends at null, so none is deleted; the types need the comparison",
    ],
    [
      "if (next_claim_end.isKnownAfter(now_ms)) return;",
      "next_claim_end.isKnownAfter(now_ms) → false",
      "the line only saves reading: no claim is due",
    ],
    ...[
      "next_claim_end.learn(deadlines.readFirstClaimEnd() ?? Number.POSITIVE_INFINITY); → nothing",
      "deadlines.readFirstClaimEnd() ?? Number.POSITIVE_INFINITY → deadlines.readFirstClaimEnd()",
    ].map((change): Change => [
      "next_claim_end.learn(deadlines.readFirstClaimEnd() ?? Number.POSITIVE_INFINITY);",
      change,
      "what is not known is read again by the next call",
    ]),
    [
      "if (job === null) continue;",
      "job === null → false",
      "a job with a claim has its row; the types need the comparison",
    ],
  ),
  ...of(
    "account/jobs/expiry.ts",
    [
      "next_expiry.learn(next_ms);",
      "next_expiry.learn(next_ms); → nothing",
      "the next call reads the time again; to know it saves reading",
    ],
    [
      "if (next_ms <= now_ms) {",
      "next_ms <= now_ms → true",
      "if no job is due, the list is empty; the comparison saves reading",
    ],
    [
      ': store.listRevokedJobs(recent_after_job_id ?? "", EXPIRY_PORTION_JOBS + 1);',
      "1 → 2",
      "one job more than a portion says that there are more; so do two",
    ],
    [
      'const started = [...recent, ...long].filter((id) => store.readJob(id)?.status === "started");',
      '[...recent, ...long].filter((id) => store.readJob(id)?.status === "started") → [...recent, ...long]',
      "only started jobs are listed; a deletion must not wait for any other",
    ],
    ["return started.length > 0;", "0 → 1", "after a portion of one job, none is left"],
    [
      "if (open_jobs === 0) return Number.POSITIVE_INFINITY;",
      "open_jobs === 0 → false",
      "without started jobs the lists are empty; the comparison saves reading",
    ],
  ),
  ...of(
    "account/jobs/lists.ts",
    [
      'const from_id = from_ms === null ? "" : firstIdAt(from_ms - CLOCK_SKEW_MS);',
      "from_ms === null → false",
      "null counts as 0, and no id is before that; the types need the comparison",
    ],
    [
      "const range = [from_id, before_id < end_id ? before_id : end_id];",
      "before_id < end_id → before_id <= end_id",
      "two equal ids are one",
    ],
    [
      'const rows = database.rows("jobs", found(among), ...range, after_id, ...filters, limit + 1);',
      "1 → 2",
      "one row more than a page says that there are more; so do two",
    ],
    [
      "const scanned_to = rows.length > limit ? null : lastScanned();",
      "rows.length > limit → false",
      "a page with more rows after it ends at its last one; the comparison saves reading",
    ],
  ),
  ...of(
    "account/jobs/refused.ts",
    [
      "one.period === cap.period && one.credits === cap.credits && roomNow(one, now_ms) === room;",
      "one.period === cap.period && one.credits === cap.credits → one.period === cap.period",
      "an allowance has one cap of a period, and of several with the same room the first one refuses",
    ],
    [
      "if (row === undefined || consentedClient(row) === null) return;",
      "row === undefined || consentedClient(row) === null → consentedClient(row) === null",
      "a cap that refuses is one of the path; the types need the comparison",
    ],
  ),
  ...of(
    "account/ledger/turns.ts",
    [
      "store.changeAccount({ plan_json: plan === null ? null : JSON.stringify(plan) });",
      "plan === null → false",
      "null is stored as the text `null`, which is read as null",
    ],
    [
      "if (plan === null || due === undefined) return;",
      "plan === null || due === undefined → due === undefined",
      "without a plan no rule is due; the types need the comparison",
    ],
    ...["gone > 0 → false", "0 → 1"].map((change): Change => [
      "const moved = gone > 0 ? {} : { credits };",
      change,
      "both entries would write the same credits; the comparison saves written rows",
    ]),
    [
      "if (newest === null || !fitsBalance(newest, { amount, held: 0 })) return;",
      "newest === null || !fitsBalance(newest, { amount, held: 0 }) → !fitsBalance(newest, { amount, held: 0 })",
      "an account with a plan has an entry; the types need the comparison",
    ],
    [
      "const woken = slept === 0 ? before : bringIn(before, old, terms, slept).credits;",
      "slept === 0 → false",
      "bringing in 0 credits changes nothing",
    ],
    [
      "const rules = runningPlanOf(account?.plan_json ?? null)?.rules ?? [];",
      "account?.plan_json ?? null → account?.plan_json",
      "without an account the next line returns; the types need the other side",
    ],
    ...[
      "account === null || rules.length === 0 → false",
      "account === null || rules.length === 0 → account === null && rules.length === 0",
      "account === null || rules.length === 0 → account === null",
      "account === null || rules.length === 0 → rules.length === 0",
    ].map((change): Change => [
      "if (account === null || rules.length === 0) return { turns_at_ms: [], sleeping_lots: [] };",
      change,
      "without rules both lists are empty anyway; the line saves reading, and the types need it",
    ]),
  ),
  ...of(
    "account/purchases/purchases.ts",
    [
      "const row = paid.top_up === undefined ? null : store.top_ups.readTopUp(paid.top_up);",
      "paid.top_up === undefined → false",
      "no top-up has the number undefined; the types need the comparison",
    ],
    [
      "if (due !== null && !fits(transaction, (purchase?.taken_back ?? 0) - due.taken_back)) {",
      "0 → 1",
      "without a purchase nothing is due; the types need the other side",
    ],
    [
      "if (due !== null && !fits(transaction, (purchase?.taken_back ?? 0) - due.taken_back)) {",
      "purchase?.taken_back ?? 0 → purchase?.taken_back",
      "without a purchase nothing is due; the types need the other side",
    ],
    ...[
      "purchase !== null && due !== null → purchase !== null || due !== null",
      "purchase !== null && due !== null → purchase !== null",
      "purchase !== null && due !== null → due !== null",
    ].map((change): Change => [
      "if (purchase !== null && due !== null) takeBack(transaction, purchase, due);",
      change,
      "something is due if there is a purchase, and only then; the types need both comparisons",
    ]),
    [
      "const found = purchases.listPurchases(before, limit + 1);",
      "1 → 2",
      "one more row than the page has says that there is a next page, and so do two",
    ],
    [
      "const { line, balance_after } = transaction.store.readNewestEntry() ?? {",
      "transaction.store.readNewestEntry() ?? { line: 0, balance_after: 0, } → transaction.store.readNewestEntry()",
      "an open account has an entry; the types need the other side",
    ],
    ["line: 0,", "0 → 1", "an open account has an entry; the types need the other side"],
    ["balance_after: 0,", "0 → 1", "an open account has an entry; the types need the other side"],
  ),
  ...of(
    "tokens/access_token.ts",
    [
      'if (known === undefined) throw new Error("no such key");',
      "known === undefined → false",
      "a key that is missing throws too; the types need the comparison",
    ],
    ...[
      "const { iat: issued_at_seconds = 0, exp: expires_at_seconds = 0 } = payload;",
      "const { aud, iat: issued_at_seconds = 0, exp: expires_at_seconds = 0 } = payload;",
    ].map((source): Change => [source, "0 → 1", "a token without these claims was refused before"]),
    [
      'if (typeof client_id !== "string" || typeof scope !== "string") return null;',
      'typeof client_id !== "string" || typeof scope !== "string" → typeof client_id !== "string"',
      "scopes that are no text cannot be read, which refuses the token too; the types need the comparison",
    ],
  ),
  ...of(
    "tokens/issuer_token.ts",
    [
      "if (trusted.size === 0 || token.length > TOKEN_MAX_LENGTH) return undefined;",
      "trusted.size === 0 || token.length > TOKEN_MAX_LENGTH → token.length > TOKEN_MAX_LENGTH",
      "the comparison only saves work: nothing is found in an empty list",
    ],
    [
      'return trusted.get(decodeJwt(token).iss ?? "");',
      'decodeJwt(token).iss ?? "" → decodeJwt(token).iss',
      "no issuer is undefined either; the types need the other side",
    ],
    [
      "if (found === undefined || found.issuer.issuer === own_issuer) return null;",
      "found === undefined || found.issuer.issuer === own_issuer → found.issuer.issuer === own_issuer",
      "an issuer that is missing throws, which refuses the token too; the types need the comparison",
    ],
    [
      "if (claims === null || payload.exp === undefined) return null;",
      "claims === null || payload.exp === undefined → claims === null",
      "a token without an expiry was refused before; the types need the comparison",
    ],
    [
      "if ((payload.iat ?? 0) > now_seconds + TOKEN_CLOCK_TOLERANCE_SECONDS) return null;",
      "payload.iat ?? 0 → payload.iat",
      "undefined is not above a number either; the types need the other side",
    ],
    [
      "if ((payload.iat ?? 0) > now_seconds + TOKEN_CLOCK_TOLERANCE_SECONDS) return null;",
      "0 → 1",
      "the second after 1970 began is not in the future either",
    ],
  ),
  ...of(
    "tokens/living_credentials.ts",
    [
      "now_ms - (accepted_at_ms.get(credential_id) ?? 0) < LIVE_CREDENTIAL_MS,",
      "accepted_at_ms.get(credential_id) ?? 0 → accepted_at_ms.get(credential_id)",
      "no difference with undefined is below a number; the types need the other side",
    ],
    [
      "now_ms - (accepted_at_ms.get(credential_id) ?? 0) < LIVE_CREDENTIAL_MS,",
      "0 → 1",
      "the time of a token that is missing only has to be long ago",
    ],
  ),
  ...of(
    "tokens/personal_token.ts",
    [
      'if (known === undefined) throw new Error("no such key");',
      "known === undefined → false",
      "a key that is missing throws too; the types need the comparison",
    ],
    [
      'if (sub === "" || jti === "" || expires_at_seconds === undefined) return null;',
      'sub === "" || jti === "" || expires_at_seconds === undefined → sub === "" || jti === ""',
      "a token without an expiry was refused before; the types need the comparison",
    ],
  ),
  ...of(
    "tokens/sealed_token.ts",
    ...[
      "identity_id === undefined || family_id === undefined → identity_id === undefined && family_id === undefined",
      "identity_id === undefined || family_id === undefined → identity_id === undefined",
      "identity_id === undefined || family_id === undefined → family_id === undefined",
    ].map((change): Change => [
      "if (identity_id === undefined || family_id === undefined) return null;",
      change,
      "a token has all parts or none; the types need both comparisons",
    ]),
    ...["64 → 65", "64 → 63"].map((change): Change => [
      "length: 64,",
      change,
      "no token has so many bytes that the counter reaches its length",
    ]),
    [
      "if (!token.startsWith(prefix) || !PART.test(text)) return null;",
      "!token.startsWith(prefix) || !PART.test(text) → !token.startsWith(prefix)",
      "other letters than those of base64url are another spelling, which is refused below",
    ],
    [
      "return bytes.length > MAC_BYTES && base64url.encode(bytes) === text ? bytes : null;",
      "bytes.length > MAC_BYTES → bytes.length >= MAC_BYTES",
      "no token is signed for an empty content",
    ],
  ),
  ...of(
    "tokens/session_token.ts",
    [
      "if (expires_at_seconds === undefined) return null;",
      "expires_at_seconds === undefined → false",
      "a token without an expiry was refused before; the types need the comparison",
    ],
    [
      'if (typeof generation !== "number" || typeof scope !== "string") return null;',
      'typeof generation !== "number" || typeof scope !== "string" → typeof generation !== "number"',
      "scopes that are no text cannot be read, which refuses the token too; the types need the comparison",
    ],
  ),
  ...of("tokens/verified_tokens.ts", [
    "if (known.size >= VERIFIED_TOKENS_MAX) known.clear();",
    "known.size >= VERIFIED_TOKENS_MAX → known.size > VERIFIED_TOKENS_MAX",
    "the cache may have one token more",
  ]),
  ...of(
    "webhooks/attempt.ts",
    [
      "if (body === null) return null;",
      "body === null → false",
      "a body that is missing cannot be read, which ends the same; the types need the comparison",
    ],
    [
      "for await (const chunk of body.values({ preventCancel: true })) {",
      "true → false",
      "the rest of the body is cancelled either way",
    ],
  ),
  ...of("webhooks/deliveries.ts", [
    "if (known_ms === null || known_ms > at_ms) await this.ctx.storage.setAlarm(at_ms);",
    "known_ms > at_ms → known_ms >= at_ms",
    "sets the alarm to the time that it has",
  ]),
  ...of(
    "webhooks/engine.ts",
    [
      "found.deliveries.length > limit ? (rows.at(-1)?.identity_id ?? null) : found.looked_at_to;",
      "rows.at(-1)?.identity_id ?? null → rows.at(-1)?.identity_id",
      "a page that another one follows has a last row; the types need the other side",
    ],
    [
      "for (let at = 0; at < webhooks.length; at += CHECKED_AT_ONCE) {",
      "at < webhooks.length → at <= webhooks.length",
      "a portion without webhooks calls nothing",
    ],
  ),
  ...of(
    "webhooks/sender.ts",
    [
      "if (page.events.length === 0) save({ position: end, news });",
      "page.events.length === 0 → true",
      "the same was stored with the last event",
    ],
    ["if (waiting === null) return false;", "false → true", "nothing waits, which has no attempts"],
    ...["waiting?.attempts ?? 0 → waiting?.attempts", "0 → 1"].map((change): Change => [
      "const before = isAttemptedAgain(waiting, event) ? (waiting?.attempts ?? 0) : 0;",
      change,
      "an event that is attempted again waits; the types need the other side",
    ]),
    [
      'await parts.pause(uid, reason ?? "");',
      'reason ?? "" → reason',
      "an attempt that failed has a reason; the types need the other side",
    ],
  ),
  ...of(
    "webhooks/signature.ts",
    [
      'const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);',
      "false → true",
      "the key leaves the function in no form",
    ],
    ...["character.codePointAt(0) ?? 0 → character.codePointAt(0)", "0 → 1"].map(
      (change): Change => [
        "return Uint8Array.from(atob(text), (character) => character.codePointAt(0) ?? 0);",
        change,
        "a character has a number; the types need the other side",
      ],
    ),
  ),
  ...of(
    "domain/language.ts",
    [
      'const tag = range.split("-", 1)[0] ?? "";',
      'range.split("-", 1)[0] ?? "" → range.split("-", 1)[0]',
      "a text that is split has a first part; the types need the other side",
    ],
    ['const tag = range.split("-", 1)[0] ?? "";', "1 → 2", "only the first part is used"],
  ),
  ...of("http/caller/app_session.ts", [
    "if (authorized_parties !== null) return party !== null && authorized_parties.includes(party);",
    "party !== null && authorized_parties.includes(party) → authorized_parties.includes(party)",
    "no list of parties has null; the types need the comparison",
  ]),
  ...of("http/caller/app_key.ts", [
    'return readAppKey(context.req.header("Authorization") ?? "");',
    'context.req.header("Authorization") ?? "" → context.req.header("Authorization")',
    "the text `undefined` is no bearer header; the types need the other side",
  ]),
  ...of("http/caller/browser_session.ts", [
    'return pathname.slice(0, pathname.lastIndexOf("/"));',
    "0 → 1",
    "a path without its first slash is the same address on our origin",
  ]),
  ...of("http/caller/deleted_account.ts", [
    'return "reason" in refusal && refusal.reason === "account_deleted";',
    '"reason" in refusal && refusal.reason === "account_deleted" → refusal.reason === "account_deleted"',
    "a refusal without a reason does not have this one; the types need the comparison",
  ]),
  ...of("http/caller/deleted_registrations.ts", [
    "const client_id = isOfAllowance(proof) ? proof.client_id : undefined;",
    "isOfAllowance(proof) → true",
    "no other proof has a client_id; the types need the comparison",
  ]),
  ...of(
    "http/caller/holder.ts",
    [
      'const named = context.req.param("identity_id") ?? "";',
      'context.req.param("identity_id") ?? "" → context.req.param("identity_id")',
      "every route of a holder names one; the types need the other side",
    ],
    [
      'return (context.req.param("job_id") ?? "").toLowerCase();',
      'context.req.param("job_id") ?? "" → context.req.param("job_id")',
      "every route of a job names one; the types need the other side",
    ],
  ),
  ...of("http/caller/authenticate.ts", [
    "if (binding === null || !bindings.has(binding)) continue;",
    "binding === null || !bindings.has(binding) → !bindings.has(binding)",
    "no session cookie has the binding null; the types need the comparison",
  ]),
  ...of("http/caller/bearer.ts", [
    "const claims = token === null ? null : readClaims(token);",
    "token === null → false",
    "null has no claims either; the types need the comparison",
  ]),
];
