/** The caller with a personal access token. */
export const withToken = (allowance_id: string) =>
  ({ kind: "allowance", credential: { kind: "allowance", allowance_id } }) as const;

/** What a personal access token proves. */
export const proofOf = (allowance_id: string) =>
  ({ kind: "personal_token", credential: { kind: "allowance", allowance_id } }) as const;
