/** What the service stands on, as `/readyz` names it. */

/** What is checked, by the names of the public answer. */
export const READINESS_CHECKS = ["directory", "read_model", "codes", "keys"] as const;
export type ReadinessCheck = (typeof READINESS_CHECKS)[number];

/** True where it answered. */
export type Readiness = Readonly<Record<ReadinessCheck, boolean>>;
