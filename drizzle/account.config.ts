import type { Config } from "drizzle-kit";

export default {
  dialect: "sqlite",
  driver: "durable-sqlite",
  schema: "./src/account/sql/schema.ts",
  out: "./drizzle/account",
} satisfies Config;
