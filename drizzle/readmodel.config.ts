import type { Config } from "drizzle-kit";

export default {
  dialect: "sqlite",
  schema: "./src/readmodel/schema.ts",
  out: "./drizzle/readmodel",
} satisfies Config;
