/** The page of one act on an account: what it does, and the form that does it. */
import { Choice } from "../device/choices.tsx";
import { credits, nameFromSlug, number, signed } from "../layout/account_words.ts";
import { ActForm, Choices, Field, FormPage, Reason, type FormState } from "./form.tsx";
import { accountAddress } from "./table.tsx";
import { ACCOUNT_ACTS, TAKING_ACTS, type AccountAct } from "./words.ts";

/** Whom an act is done to. */
export interface ActSubject {
  readonly identity_id: string;
  /** As operators know them: address or name. */
  readonly name: string;
  readonly plan: string;
  readonly credits: number;
  readonly reserved: number;
}

/** The page's frame: whom it is about. */
function frameOf({ identity_id, name }: ActSubject) {
  return { section: "accounts", about: { href: accountAddress(identity_id), name } } as const;
}

export interface ActPageProps {
  readonly act: AccountAct;
  readonly subject: ActSubject;
  readonly form: FormState;
  /** What the act is about beside the account, such as a token's name; null: nothing. */
  readonly about: string | null;
}

export function ActPage({ act, subject, form, about }: ActPageProps) {
  const { title, button, says, reason } = ACCOUNT_ACTS[act];
  const back = accountAddress(subject.identity_id);
  return (
    <FormPage title={title} form={form} {...frameOf(subject)}>
      {about === null ? null : (
        <p>
          <strong>{about}</strong>
        </p>
      )}
      <p>{says}</p>
      <ActForm
        action={accountAddress(subject.identity_id, act)}
        form={form}
        button={button}
        danger={TAKING_ACTS.includes(act)}
        back={back}
      >
        {act === "plan" ? (
          <Field
            form={form}
            name="plan"
            label="New plan"
            hint={`It is ${nameFromSlug(subject.plan)} (${subject.plan}) now. A short name of small letters and digits.`}
          />
        ) : null}
        {act === "revoke-token" ? (
          <input type="hidden" name="token_id" value={form.values["token_id"] ?? ""} />
        ) : null}
        {reason === null ? null : <Reason form={form} hint={reason} />}
      </ActForm>
    </FormPage>
  );
}

export interface CreditsPageProps {
  readonly subject: ActSubject;
  readonly form: FormState;
}

/** First the change and why. */
export function CreditsPage({ subject, form }: CreditsPageProps) {
  return (
    <FormPage title="Give or take credits" form={form} {...frameOf(subject)}>
      <p>
        The balance is <strong>{credits(subject.credits)}</strong>
        {subject.reserved === 0 ? "" : `, beside ${number(subject.reserved)} on hold`}. You see what
        it will be before anything is done.
      </p>
      <ActForm
        action={accountAddress(subject.identity_id, "credits")}
        form={form}
        button="Review"
        back={accountAddress(subject.identity_id)}
      >
        <Choices
          form={form}
          name="direction"
          legend="What to do"
          options={[
            ["give", "Give credits"],
            ["take", "Take credits away"],
          ]}
        />
        <Field form={form} name="amount" label="How many" inputmode="numeric" />
        <Reason
          form={form}
          hint="Its owner sees this in their statement, and the audit log keeps it."
        />
      </ActForm>
    </FormPage>
  );
}

export interface ReviewCreditsProps extends CreditsPageProps {
  /** Signed. */
  readonly amount: number;
}

/** Then what comes of it, to be confirmed. */
export function ReviewCreditsPage({ subject, form, amount }: ReviewCreditsProps) {
  const after = subject.credits + amount;
  const giving = amount > 0;
  const change = credits(Math.abs(amount));
  const { direction = "", amount: typed = "", reason = "" } = form.values;
  return (
    <FormPage
      title={giving ? `Give ${change}?` : `Take ${change}?`}
      form={form}
      {...frameOf(subject)}
    >
      <dl class="sums">
        <div>
          <dt>Now</dt>
          <dd>{number(subject.credits)}</dd>
        </div>
        <div>
          <dt>Change</dt>
          <dd>{signed(amount)}</dd>
        </div>
        <div>
          <dt>After</dt>
          <dd class={after < 0 ? "is-negative" : undefined}>{number(after)}</dd>
        </div>
      </dl>
      <p>
        Its owner will read: <q>{reason}</q>
      </p>
      <ActForm
        action={accountAddress(subject.identity_id, "credits")}
        form={form}
        button={giving ? `Give ${change}` : `Take ${change}`}
        danger={!giving}
        back={accountAddress(subject.identity_id)}
      >
        {Object.entries({ direction, amount: typed, reason, confirmed: "yes" }).map(
          ([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ),
        )}
        {after < 0 && !giving ? <BelowZero form={form} /> : null}
      </ActForm>
    </FormPage>
  );
}

/** A debt is made by a deliberate act alone. */
function BelowZero({ form }: { form: FormState }) {
  const problem = form.problems["below_zero"];
  return (
    <>
      <p class="hint" id="below_zero-hint">
        The account would owe credits: none of its apps can start a job until it is above zero
        again.
      </p>
      <Choice
        type="checkbox"
        id="below_zero"
        name="below_zero"
        value="yes"
        aria-describedby="below_zero-hint"
        {...(problem === undefined ? {} : { "aria-invalid": "true" })}
      >
        Take them although the balance will be below zero
      </Choice>
    </>
  );
}
