import type { Config } from "drizzle-kit";

export default {
  dialect: "sqlite",
  schema: ["./src/readmodel/schema.ts", "./src/identity/builtin/schema.ts"],
  out: "./drizzle/d1",
} satisfies Config;
