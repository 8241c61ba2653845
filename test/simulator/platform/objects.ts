/**
 * Durable Objects: at most one instance of each name runs, one turn at a time. A turn's writes are stored together at its
 * end, and only then its messages leave. An instance may be evicted when it waits for nothing, and may be ended after any
 * turn: with what the turn wrote, or without it.
 */
import { PlatformError, type Kernel, type Outcome, type Turn } from "./kernel.ts";
import { Storage, Stored } from "./storage.ts";

export interface ObjectFaults {
  /** After a turn, the instance is ended, and what the turn wrote is lost. */
  killed_before_commit: number;
  /** After a turn, the instance is ended, and its messages are lost. */
  killed_after_commit: number;
  /** A transaction fails at its end, and the instance goes on. */
  transaction_failed: number;
  /** A message arrives up to 20 seconds late. */
  late: number;
  /** A call never arrives, or its response does not. */
  lost: number;
  /** A call of a client arrives twice. */
  doubled: number;
  alarm_late: number;
  alarm_early: number;
  alarm_twice: number;
  alarm_dropped: number;
  /** The machine of a new instance has a clock that is up to 30 seconds wrong. */
  skewed: number;
}

/** An instance of a class of Durable Objects. */
type Instance = Record<string, (...input: unknown[]) => unknown>;

export type ObjectClass = new (context: unknown, env: unknown) => Instance;

export interface ObjectKind {
  readonly create: ObjectClass;
  /** Whether several isolates run its instances. Each has bindings and copies in memory of its own. */
  readonly envs: readonly object[];
}

export interface Call {
  readonly method: string;
  readonly input: readonly unknown[];
  /** From the moment of the turn in which it was decided. */
  machine_ms: number;
  readonly respond: (outcome: Outcome<unknown>, delay_ms: number) => void;
}

export interface Observer {
  /** What a turn of the object wrote is stored. `ended`: the calls that it ended, in order. */
  committed(object: Stored, ended: readonly Ended[]): void;
}

export interface Ended {
  readonly call: Call;
  readonly outcome: Outcome<unknown>;
}

/** How often the platform repeats an alarm whose handler rejects, before it drops it. */
const ALARM_RETRIES_MAX = 6;

export class Objects {
  readonly kernel: Kernel;
  readonly faults: ObjectFaults;
  readonly observer: Observer;
  readonly kinds: Readonly<Record<string, ObjectKind>>;
  readonly stored = new Map<string, Stored>();
  readonly #running = new Map<Stored, Running>();
  readonly #alarms = new Map<Stored, AlarmState>();

  constructor(
    kernel: Kernel,
    kinds: Readonly<Record<string, ObjectKind>>,
    faults: ObjectFaults,
    observer: Observer,
  ) {
    this.kernel = kernel;
    this.kinds = kinds;
    this.faults = faults;
    this.observer = observer;
  }

  /** A binding of the Worker. */
  namespace(kind: string): { getByName: (name: string) => object } {
    return {
      getByName: (name) =>
        new Proxy(Object.create(null) as object, {
          get: (_, method) =>
            method === "then"
              ? undefined
              : (...input: unknown[]) => this.call(kind, name, String(method), input, false),
        }),
    };
  }

  /** Calls an object from the turn that runs now. `may_double`: the caller is a client, at the other end of a network. */
  call(
    kind: string,
    name: string,
    method: string,
    input: readonly unknown[],
    may_double: boolean,
  ): Promise<unknown> {
    const { kernel, faults } = this;
    return kernel.wait((respond) => {
      const { random } = kernel;
      const travel = (): number =>
        random.chance(faults.late) ? random.between(100, 20_000) : random.between(1, 15);
      const lost = random.chance(faults.lost);
      if (lost && random.chance(0.5)) return respond(LOST, 10_000);
      let is_answered = false;
      const answer: Call["respond"] = (outcome) => {
        if (is_answered) return;
        is_answered = true;
        if (lost) respond(LOST, 10_000);
        else respond(outcome, travel());
      };
      const copies = may_double && random.chance(faults.doubled) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) {
        const call: Call = { method, input, machine_ms: 0, respond: answer };
        kernel.schedule(travel(), null, () => this.#runningOf(this.find(kind, name)).take(call));
      }
    });
  }

  find(kind: string, name: string): Stored {
    const key = `${kind} ${name}`;
    const known = this.stored.get(key) ?? new Stored(kind, name);
    this.stored.set(key, known);
    return known;
  }

  /** Ends an object's instance, between two turns. Its waiting calls fail. */
  end(object: Stored): void {
    this.#running.get(object)?.die();
  }

  /** Drops an instance from memory if it waits for nothing. */
  evict(object: Stored): void {
    const running = this.#running.get(object);
    if (running?.is_idle === true) running.die();
  }

  endAll(): void {
    for (const running of this.#running.values()) running.die();
  }

  /** The alarm is as the storage says: plans when it fires. */
  planAlarm(object: Stored): void {
    const { kernel, faults } = this;
    const { alarm_ms } = object;
    const state = this.#alarmOf(object);
    state.plan += 1;
    if (alarm_ms === null) return;
    const { random } = kernel;
    const late_ms = random.chance(faults.alarm_late) ? random.between(1_000, 300_000) : 0;
    const early_ms = random.chance(faults.alarm_early) ? random.between(1, 2_000) : 0;
    // Never at once: a machine whose clock is behind sets the same alarm again, until its clock agrees.
    const delay_ms = Math.max(
      random.between(5, 200),
      alarm_ms - kernel.now_ms + late_ms - early_ms,
    );
    this.#fireAfter(object, state, delay_ms, random.chance(faults.alarm_dropped));
  }

  #fireAfter(object: Stored, state: AlarmState, delay_ms: number, is_dropped: boolean): void {
    const { plan } = state;
    this.kernel.schedule(delay_ms, null, () => {
      if (state.plan !== plan || object.alarm_ms === null) return;
      // One that is due while the handler runs is next.
      if (state.is_running) return void (state.is_due = true);
      // A late alarm may fire only after the faults have ended.
      if (is_dropped && this.faults.alarm_dropped > 0) object.alarm_ms = null;
      else this.#fire(object, state);
    });
  }

  #fire(object: Stored, state: AlarmState): void {
    state.is_running = true;
    this.#runningOf(object).take({
      method: "alarm",
      input: [],
      machine_ms: 0,
      respond: (outcome) => this.#alarmEnded(object, state, outcome),
    });
  }

  forget(object: Stored, running: Running): void {
    if (this.#running.get(object) === running) this.#running.delete(object);
  }

  /** A handler that rejects, or whose instance was ended, runs again, unless it has set another alarm. */
  #alarmEnded(object: Stored, state: AlarmState, outcome: Outcome<unknown>): void {
    const { kernel, faults } = this;
    const { is_handled } = object;
    state.is_running = false;
    object.is_handled = false;
    const is_repeated = outcome.ok && kernel.random.chance(faults.alarm_twice);
    const is_reset = !outcome.ok && outcome.error instanceof PlatformError;
    if (outcome.ok) state.failures = 0;
    else if (!is_reset) state.failures += 1;
    if (!is_handled && object.alarm_ms !== null) {
      // It has set another one.
      if (state.is_due || is_reset) this.planAlarm(object);
    } else if ((outcome.ok && !is_repeated) || state.failures > ALARM_RETRIES_MAX) {
      object.alarm_ms = null;
    } else {
      this.#fireAfter(object, state, is_repeated ? 0 : 2_000 * 2 ** state.failures, false);
    }
    state.is_due = false;
  }

  #alarmOf(object: Stored): AlarmState {
    const known = this.#alarms.get(object) ?? newAlarm();
    this.#alarms.set(object, known);
    return known;
  }

  #runningOf(object: Stored): Running {
    const known = this.#running.get(object) ?? new Running(this, object);
    this.#running.set(object, known);
    return known;
  }
}

const newAlarm = (): AlarmState => ({ plan: 0, is_running: false, is_due: false, failures: 0 });

interface AlarmState {
  /** Changes with the alarm in storage: an event of an earlier plan does nothing. */
  plan: number;
  is_running: boolean;
  /** Another alarm is due as soon as the handler ends. */
  is_due: boolean;
  failures: number;
}

const LOST: Outcome<never> = { ok: false, error: new PlatformError("the network lost the call") };

/** A running instance. */
class Running implements Turn {
  readonly #objects: Objects;
  readonly #stored: Stored;
  readonly #storage: Storage;
  readonly skew_ms: number;
  alive = true;
  #instance: Instance | null = null;
  #is_ready = false;
  readonly #waiting: Call[] = [];
  readonly #open = new Set<Call>();
  readonly #messages: (() => void)[] = [];
  readonly #ended: Ended[] = [];

  constructor(objects: Objects, stored: Stored) {
    this.#objects = objects;
    this.#stored = stored;
    const { kernel, faults } = objects;
    const { random } = kernel;
    this.skew_ms = random.chance(faults.skewed) ? random.between(-30_000, 30_000) : 0;
    const onSync = (): Promise<void> =>
      kernel.wait((answer) => answer({ ok: true, value: undefined }, 1));
    this.#storage = new Storage(stored, onSync, () =>
      kernel.random.chance(faults.transaction_failed),
    );
    kernel.schedule(0, this, () => this.#construct());
  }

  get is_idle(): boolean {
    return this.#is_ready && this.#open.size === 0 && this.#waiting.length === 0;
  }

  take(call: Call): void {
    this.#open.add(call);
    if (this.#is_ready) this.#objects.kernel.schedule(0, this, () => this.#run(call));
    else this.#waiting.push(call);
  }

  send(message: () => void): void {
    this.#messages.push(message);
  }

  end(): void {
    const { kernel, faults, observer } = this.#objects;
    const { random } = kernel;
    if (random.chance(faults.killed_before_commit)) {
      this.#storage.rollBack();
      return this.die();
    }
    const sets_alarm = this.#storage.commit();
    if (sets_alarm) this.#objects.planAlarm(this.#stored);
    observer.committed(this.#stored, this.#ended.splice(0));
    if (random.chance(faults.killed_after_commit)) return this.die();
    for (const message of this.#messages.splice(0)) message();
  }

  /** Everything in memory is lost, and all open calls fail. */
  die(): void {
    if (!this.alive) return;
    this.alive = false;
    this.#objects.forget(this.#stored, this);
    const error = new PlatformError("the object was reset", true);
    for (const call of this.#open) call.respond({ ok: false, error }, 1);
    this.#open.clear();
  }

  #construct(): void {
    const { kinds, kernel } = this.#objects;
    const kind = kinds[this.#stored.kind];
    if (kind === undefined) throw new Error(`no objects of the kind ${this.#stored.kind}`);
    let blocking: Promise<unknown> = Promise.resolve();
    const context = {
      id: { name: this.#stored.name },
      storage: this.#storage,
      blockConcurrencyWhile: (work: () => Promise<unknown>): Promise<unknown> =>
        (blocking = work()),
      getWebSockets: () => [],
      waitUntil: () => undefined,
      abort: () => this.die(),
    };
    this.#instance = new kind.create(context, kernel.random.pick(kind.envs));
    void this.#becomeReady(blocking);
  }

  async #becomeReady(blocking: Promise<unknown>): Promise<void> {
    await blocking;
    this.#is_ready = true;
    for (const call of this.#waiting.splice(0)) {
      this.#objects.kernel.schedule(0, this, () => this.#run(call));
    }
  }

  #run(call: Call): void {
    const operation = this.#instance?.[call.method];
    if (operation === undefined) throw new Error(`no operation ${call.method}`);
    call.machine_ms = this.#objects.kernel.machine_ms;
    if (call.method === "alarm") this.#stored.is_handled = this.#stored.alarm_ms !== null;
    let result: unknown;
    try {
      result = Reflect.apply(operation, this.#instance, call.input);
    } catch (error) {
      return this.#complete(call, { ok: false, error: error as Error });
    }
    if (!(result instanceof Promise)) return this.#complete(call, { ok: true, value: result });
    void result.then(
      (value: unknown) => this.#complete(call, { ok: true, value }),
      (error: unknown) => this.#complete(call, { ok: false, error: error as Error }),
    );
  }

  #complete(call: Call, outcome: Outcome<unknown>): void {
    this.#ended.push({ call, outcome });
    this.send(() => {
      this.#open.delete(call);
      call.respond(outcome, 0);
    });
  }
}
