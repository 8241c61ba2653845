import journal from './meta/_journal.json';
import m0000 from './0000_initial.sql';
import m0001 from './0001_vault.sql';
import m0002 from './0002_tokens.sql';
import m0003 from './0003_open_jobs.sql';
import m0004 from './0004_ledger_standing.sql';
import m0005 from './0005_upstream_origin.sql';
import m0006 from './0006_personal_token_bounds.sql';
import m0007 from './0007_operators.sql';
import m0008 from './0008_job_policy.sql';
import m0009 from './0009_purchases.sql';
import m0010 from './0010_personal_tokens.sql';
import m0011 from './0011_kept_answers.sql';
import m0012 from './0012_deletion.sql';
import m0013 from './0013_spending.sql';
import m0014 from './0014_line_keys.sql';

  export default {
    journal,
    migrations: {
      m0000,
m0001,
m0002,
m0003,
m0004,
m0005,
m0006,
m0007,
m0008,
m0009,
m0010,
m0011,
m0012,
m0013,
m0014
    }
  }
  