/** The package that apps install. The name `passbook` on the public registry belongs to somebody else. */
export const PACKAGE_NAME = "passbook-client";

/** Its entries: the name of each, and its module in `src`, without extension. */
export const PACKAGE_ENTRIES = {
  ".": "client/index",
  "./server": "client/server",
  "./react": "client/react/index",
  "./oauth": "client/oauth/index",
  "./resource": "client/resource/index",
  "./admin": "client/admin/index",
  "./testing": "client/testing/index",
} as const;
