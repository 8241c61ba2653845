/**
 * Stands for the parts of Drizzle that its drivers import and Passbook never calls: relational queries and PostgreSQL's
 * enums, together 2.4 KiB of the compressed bundle. wrangler.toml, `[alias]`, puts it in their place. A build fails if
 * Drizzle's drivers import any other name of them.
 */
export const createTableRelationsHelpers = null;
export const extractTablesRelationalConfig = null;
export const getOperators = null;
export const getOrderByOperators = null;
export const Many = null;
export const mapRelationalRow = null;
export const normalizeRelation = null;
export const One = null;
export const RelationalQueryBuilder = null;

/** Drizzle calls this for each value in a query. */
export const isPgEnum = (): boolean => false;
