/** The caller with a personal access token. */
export const withToken = (allowance_id: string) =>
  ({ kind: "personal_token", credential: { kind: "allowance", allowance_id } }) as const;
