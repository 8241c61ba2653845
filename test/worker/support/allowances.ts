/** The caller with a personal access token, and what it proves. */
export const withToken = (allowance_id: string) =>
  ({
    kind: "personal_token",
    credential: { kind: "allowance", allowance_id },
    client_id: null,
  }) as const;
