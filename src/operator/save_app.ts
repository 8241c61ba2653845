/** Registers an app, or changes it. */
import type { OnceAnswer } from "../account/contract.ts";
import type { AppRecord, AppSettings } from "../directory/app_records.ts";
import { APP_ICON_MAX_BYTES, type AppIconProblem } from "../domain/app_icon.ts";
import { DEFAULT_POLICY } from "../domain/app_policy.ts";
import { accepted, refused } from "../domain/result.ts";
import type { Acting } from "./acting.ts";
import { saveRecord, type RecordKind, type SavedRecord, type SaveRequest } from "./save_record.ts";

/** Valid settings. An omitted one gets its default in a new app, and does not change in a registered one. */
export type AppInput = Omit<AppSettings, keyof typeof DEFAULTS> & {
  readonly [Name in keyof typeof DEFAULTS]?: Name extends "icon"
    ? string | null | undefined
    : AppSettings[Name] | undefined;
};

const DEFAULTS = {
  ...DEFAULT_POLICY,
  upstream_providers: [],
  icon: null,
  color: null,
  suggested_cap: null,
  starter_excluded_domains: [],
};

const ICON_MESSAGES: Readonly<Record<AppIconProblem, string>> = {
  unreachable: "its server could not be reached. Check the address.",
  timeout: "its server took longer than 5 seconds. Try again, or use another address.",
  status: "its server did not respond with status 200. Use an address that needs no redirect.",
  too_large: `it is larger than ${APP_ICON_MAX_BYTES / 1024} KiB. Use a smaller picture, such as 128 by 128 pixels.`,
  not_a_picture: "it is not a PNG, JPEG, WebP or ICO picture. SVG is not accepted.",
};

export function saveApp(
  acting: Acting,
  slug: string,
  settings: AppInput,
  request: SaveRequest,
): Promise<OnceAnswer<SavedRecord<AppRecord>>> {
  const { app_records, copyAppIcon } = acting.services;
  /** Undefined, as if omitted, if the app already has a copy from this address. */
  const copyIcon = async (before: AppRecord | null, url: AppInput["icon"]) => {
    if (url === undefined || url === null) return accepted(url);
    if (before?.icon === url) return accepted(undefined);
    const copied = await copyAppIcon(url);
    if (copied.ok) return copied;
    const detail = `The icon could not be copied: ${ICON_MESSAGES[copied.refusal]}`;
    return refused({ code: "invalid_request", detail } as const);
  };
  const kind: RecordKind<AppInput, AppRecord> = {
    act: "app.save",
    subject: slug,
    details: {},
    not_found: { code: "app_unknown" },
    changed: { code: "app_changed" },
    find: () => app_records.find(slug),
    completed: (given) => ({ ...DEFAULTS, ...definedOf(given) }),
    settingsOf,
    async write({ icon: url, ...given }, { before, audit_id }) {
      const icon = await copyIcon(before, url);
      if (!icon.ok) return icon;
      const complete = { ...DEFAULTS, ...(before && settingsOf(before)), ...definedOf(given) };
      const version = before?.version ?? 0;
      const app = await app_records.save(
        slug,
        { ...complete, icon: icon.value },
        { version, audit_id },
      );
      return accepted(app === null ? null : { record: app, secret: null });
    },
  };
  return saveRecord(acting, kind, settings, request);
}

function settingsOf(app: AppRecord) {
  const { slug: _, icon_hash: __, created_at_ms: ___, ...rest } = app;
  const { version: ____, last_audit_id: _____, ...settings } = rest;
  return settings;
}

/** Without the members that are undefined, which would hide others. */
function definedOf<Settings extends object>(settings: Settings) {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as {
    [Name in keyof Settings]: Exclude<Settings[Name], undefined>;
  };
}
