/** Data of one fictional person, shared by the examples of the document. */

const at = "2026-11-21T09:30:00.000Z";

export const ACCOUNT = {
  id: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
  identity_id: "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
  plan: "free",
  credits: 90,
};

export const JOB_ID = "019a0b1c-7d2e-7f30-8a41-5b6c7d8e9f00";

export const PERSONAL_TOKEN_ID = "2c5ea4c0-4067-41fe-a3b1-93b1e4d3a6f1";

const TOKEN_LABEL = "Build agent";

const BY = { kind: "token", id: PERSONAL_TOKEN_ID, name: TOKEN_LABEL };

export const JOB = {
  id: JOB_ID,
  app_slug: "sketch",
  action: "render",
  status: "completed",
  reserved: 60,
  actual_cost: 25,
  refunded: 0,
  step: 0,
  spent: null,
  done: null,
  message: null,
  failure: null,
  failure_reason: null,
  created_at: at,
  updated_at: "2026-11-21T09:30:12.345Z",
  expires_at: "2026-11-22T09:30:00.000Z",
  by: BY,
  metadata: { description: "A lighthouse at dusk" },
};

export const INSUFFICIENT_CREDITS = {
  error: "The balance of 90 credits does not cover 1000.",
  code: "insufficient_credits",
  credits: 90,
  spendable: 90,
  held: 0,
  required: 1000,
  topup_url: "https://passbook.example.com/account#buy",
};

export const WALLET = {
  account: ACCOUNT,
  held: 0,
  bought: 0,
  lots: [],
  next_expiry: null,
  topup: null,
  apps: [{ slug: "sketch", starter_credits: 100, granted: true, granted_at: at }],
  app_grant: { slug: "sketch", starter_credits: 100, granted: false },
  spendable: 90,
};

export const ENTRY = {
  line: 4,
  kind: "settle",
  amount: 35,
  balance_after: 75,
  job_id: JOB_ID,
  app: "sketch",
  note: null,
  lot_id: null,
  terms: null,
  by: BY,
  at: JOB.updated_at,
};

const CAP = {
  credits: 50,
  period: "month",
  spent: 20,
  approved: 0,
  room: 30,
  resets_at: "2026-12-01T00:00:00.000Z",
} as const;

export const PERSONAL_TOKEN = {
  id: PERSONAL_TOKEN_ID,
  kind: "device",
  parent_id: null,
  client: null,
  resource: null,
  label: TOKEN_LABEL,
  app: "sketch",
  scopes: ["read", "write"],
  apps: ["sketch"],
  caps: [CAP],
  current: false,
  ends_with_session: false,
  created_at: at,
  last_used_at: null,
  expires_at: "2027-02-19T09:30:00.000Z",
};

const ALLOWANCE = {
  id: PERSONAL_TOKEN_ID,
  resource: null,
  scopes: ["read", "write"],
  apps: ["sketch"],
  caps: [CAP],
  ends_with_session: false,
  created_at: at,
  last_used_at: at,
  expires_at: PERSONAL_TOKEN.expires_at,
  spent_this_month: 20,
};

export const ACCESS = {
  apps: [
    {
      slug: "sketch",
      name: "Sketch",
      icon: null,
      host: "sketch.example.com",
      state: "open",
      last_used_at: at,
      spent_this_month: 70,
      started_jobs: 1,
    },
  ],
  connections: [
    {
      ...ALLOWANCE,
      id: "8a1f0d3e-52f3-4c0c-9f0e-6f2f5f6b7a10",
      client_id: "https://claude.ai/oauth/client.json",
      name: "Claude",
      host: "claude.ai",
      registered: false,
      children: [],
    },
  ],
  tokens: [{ ...ALLOWANCE, label: "Build agent", current: false, children: [] }],
  browsers: [
    {
      id: "Yx0b9aV5r1m2",
      current: true,
      browser: "Firefox on Windows",
      place: "Lisbon, Portugal",
      started_at: at,
      last_used_at: at,
    },
  ],
};

export const DEVICE = {
  device_code: "BCDFGHJK.3q2-7w",
  user_code: "BCDF-GHJK",
  verification_uri: "https://passbook.example.com/device",
  verification_uri_complete: "https://passbook.example.com/device?user_code=BCDF-GHJK",
  expires_in: 900,
  interval: 5,
};
