/** How operators' lists of accounts are sorted: newest or richest first. */
export const ACCOUNT_SORTS = ["created", "credits"] as const;
export type AccountSort = (typeof ACCOUNT_SORTS)[number];
