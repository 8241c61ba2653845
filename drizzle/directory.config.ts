import type { Config } from "drizzle-kit";

export default {
  dialect: "sqlite",
  schema: ["./src/directory/schema.ts", "./src/directory/oauth_schema.ts", "./src/identity/builtin/schema.ts"],
  out: "./drizzle/directory",
} satisfies Config;
