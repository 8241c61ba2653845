/**
 * The Durable Objects of the development build. The platform fires alarms by the real time, so each object notes when its
 * alarm is due, and `fireAlarmsUntil` fires in order the alarms that the moved clock passes.
 */
import { currentEnvironment } from "./environment.ts";
import { bookmarkForTime, noteTime, recordChanges, restoreBookmark } from "./recovery.ts";
import { movedTimeOf, moveTo, realTimeOf } from "./clock.ts";

/** The bindings of the objects. */
type ObjectBinding =
  | "ACCOUNT"
  | "DEVICE_LOGIN"
  | "STARTER_BUDGET"
  | "WEBHOOK_DELIVERIES"
  | "WEBHOOK_SENDER";

/** The methods that {@link developed} adds to an object, for this file only. */
interface DevelopmentMethods {
  fireAlarm(): Promise<void>;
  rearmAlarm(): Promise<void>;
  wipe(): Promise<void>;
}

interface KnownObject {
  readonly binding: ObjectBinding;
  readonly id: DurableObjectId;
  /** Null: it has no alarm. */
  due_at_ms: number | null;
}

/** The objects that this process has run. */
const known = new Map<string, KnownObject>();

type ObjectClass = new (
  context: DurableObjectState,
  env: Env,
) => Rpc.DurableObjectBranded & {
  alarm?(): Promise<void>;
};

/** The class of an object for the moved clock. */
export function developed<Base extends ObjectClass>(base: Base, binding: ObjectBinding) {
  // A mixin's constructor must take any arguments.
  const Parent = base as ObjectClass;
  class Developed extends Parent implements DevelopmentMethods {
    readonly #context: DurableObjectState;
    readonly #storage: DurableObjectStorage;
    readonly #known: KnownObject;
    readonly #setAlarm: (real_ms: number) => Promise<void>;
    #running: Promise<void> | null = null;

    constructor(context: DurableObjectState, env: Env) {
      const { id, storage } = context;
      const key = `${binding} ${id.toString()}`;
      const object = known.get(key) ?? { binding, id, due_at_ms: null };
      known.set(key, object);
      const setAlarm = storage.setAlarm.bind(storage);
      moveAlarms(storage, object);
      if (binding === "ACCOUNT") giveRecovery(storage);
      super(context, currentEnvironment(env));
      this.#context = context;
      this.#storage = storage;
      this.#known = object;
      this.#setAlarm = setAlarm;
    }

    /** One at a time: the platform's alarm may fire while {@link fireAlarmsUntil} does. */
    override async alarm(): Promise<void> {
      await this.#running?.catch(() => undefined);
      this.#known.due_at_ms = null;
      this.#running = super.alarm?.() ?? Promise.resolve();
      try {
        await this.#running;
      } finally {
        this.#running = null;
      }
    }

    async fireAlarm(): Promise<void> {
      await this.#storage.deleteAlarm();
      try {
        await this.alarm();
      } catch (error) {
        // As the platform does, which repeats an alarm that failed.
        await this.#storage.setAlarm(Date.now() + RETRY_MS);
        console.error({ event: "development_alarm_failed", binding, reason: String(error) });
      }
    }

    async rearmAlarm(): Promise<void> {
      const { due_at_ms } = this.#known;
      if (due_at_ms !== null) await this.#setAlarm(realTimeOf(due_at_ms));
    }

    /** The call rejects, because it ends the instance, whose memory has the old data. */
    async wipe(): Promise<void> {
      await this.#storage.deleteAlarm();
      await this.#storage.deleteAll();
      await this.#storage.sync();
      this.#context.abort("the development data was reset");
    }
  }
  return Developed as unknown as Base;
}

const RETRY_MS = 2_000;

/** Makes an object's storage take and give alarms by the moved clock, and note them. */
function moveAlarms(storage: DurableObjectStorage, object: KnownObject): void {
  const real = {
    setAlarm: storage.setAlarm.bind(storage),
    getAlarm: storage.getAlarm.bind(storage),
    deleteAlarm: storage.deleteAlarm.bind(storage),
    deleteAll: storage.deleteAll.bind(storage),
  };
  const moved: Pick<DurableObjectStorage, "setAlarm" | "getAlarm" | "deleteAlarm" | "deleteAll"> = {
    setAlarm(at, ...options) {
      object.due_at_ms = Number(at);
      return real.setAlarm(realTimeOf(Number(at)), ...options);
    },
    async getAlarm(...options) {
      const real_ms = await real.getAlarm(...options);
      return real_ms === null ? null : movedTimeOf(real_ms);
    },
    deleteAlarm(...options) {
      object.due_at_ms = null;
      return real.deleteAlarm(...options);
    },
    deleteAll(...options) {
      object.due_at_ms = null;
      return real.deleteAll(...options);
    },
  };
  Object.assign(storage, moved);
}

/** Gives an object's storage a double of point-in-time recovery. */
function giveRecovery(storage: DurableObjectStorage): void {
  const transactionSync = storage.transactionSync.bind(storage);
  let is_recorded = false;
  const given: Pick<
    DurableObjectStorage,
    "transactionSync" | "getBookmarkForTime" | "onNextSessionRestoreBookmark"
  > = {
    transactionSync(work) {
      noteTime(storage);
      const value = transactionSync(work);
      // The first transaction of an object creates its tables.
      if (!is_recorded) is_recorded = recordChanges(storage);
      return value;
    },
    getBookmarkForTime: async (at) => bookmarkForTime(storage, at),
    onNextSessionRestoreBookmark: async (bookmark) => restoreBookmark(storage, bookmark),
  };
  Object.assign(storage, given);
}

const stubOf = (env: Env, { binding, id }: KnownObject): DevelopmentMethods =>
  env[binding].get(id) as unknown as DevelopmentMethods;

/** More alarms than a test has, and fewer than a delivery that fails for a year. */
const ALARMS_MAX = 2_000;

/**
 * Moves the clock to `until_ms`, and stops at each alarm on the way to fire it, so that what it does has its own time.
 */
export async function fireAlarmsUntil(env: Env, until_ms: number): Promise<void> {
  for (let fired = 0; fired < ALARMS_MAX; fired += 1) {
    const next = [...known.values()]
      .filter(({ due_at_ms }) => due_at_ms !== null && due_at_ms <= until_ms)
      .toSorted((one, other) => (one.due_at_ms ?? 0) - (other.due_at_ms ?? 0))[0];
    if (next === undefined || next.due_at_ms === null) break;
    moveTo(next.due_at_ms);
    await stubOf(env, next).fireAlarm();
  }
  moveTo(until_ms);
  for (const object of known.values()) {
    if (object.due_at_ms !== null) await stubOf(env, object).rearmAlarm();
  }
}

/** Deletes the data of the objects that this process has run, and of the accounts of `identity_ids`. */
export async function wipeObjects(env: Env, identity_ids: readonly string[]): Promise<void> {
  for (const identity_id of identity_ids) {
    const id = env.ACCOUNT.idFromName(identity_id);
    const key = `ACCOUNT ${id.toString()}`;
    if (!known.has(key)) known.set(key, { binding: "ACCOUNT", id, due_at_ms: null });
  }
  for (const object of known.values()) {
    await stubOf(env, object)
      .wipe()
      .catch(() => undefined);
  }
  known.clear();
}
