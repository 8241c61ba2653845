/**
 * Empty, migrated databases, created once for all test files of the project. Each Worker starts on a copy: a migration
 * takes seconds, a copy milliseconds.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { applyMigrations } from "../../../src/commands/local_worker.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the migrated databases. */
    migrated_stores: string;
  }
}

/** Vitest runs this once, before the first test file. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "passbook-migrated-"));
  await applyMigrations(folder);
  project.provide("migrated_stores", folder);
  return () => rm(folder, { recursive: true, force: true });
}
