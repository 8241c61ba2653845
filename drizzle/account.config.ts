import type { Config } from "drizzle-kit";

export default {
  dialect: "sqlite",
  driver: "durable-sqlite",
  schema: "./src/account/schema.ts",
  out: "./drizzle/account",
} satisfies Config;
