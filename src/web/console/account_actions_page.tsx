/** The form of an operator's action on an account. */
import { Choice } from "../device/fields.tsx";
import { credits, nameFromSlug, number, signed } from "../layout/labels.ts";
import { ActionForm, Choices, Field, FormPage, Reason, type FormState } from "./form.tsx";
import { accountPath } from "./table.tsx";
import { ACCOUNT_ACTIONS, DANGEROUS_ACTIONS, type AccountAction } from "./labels.ts";

/** The account that an action is for. */
export interface ActionSubject {
  readonly identity_id: string;
  /** The holder's e-mail address or name. */
  readonly name: string;
  readonly plan: string;
  readonly credits: number;
  readonly reserved: number;
}

/** The parts of the page that name the account. */
function pagePropsOf({ identity_id, name }: ActionSubject) {
  return { section: "accounts", about: { href: accountPath(identity_id), name } } as const;
}

export interface ActionPageProps {
  readonly action: AccountAction;
  readonly subject: ActionSubject;
  readonly form: FormState;
  /** The label of the token to revoke; null for other actions. */
  readonly token_label: string | null;
  /** The plans to choose from; empty for other actions. */
  readonly plans: readonly string[];
}

export function ActionPage({ action, subject, form, token_label, plans }: ActionPageProps) {
  const { title, button, effect, reason_hint } = ACCOUNT_ACTIONS[action];
  const back = accountPath(subject.identity_id);
  return (
    <FormPage title={title} form={form} {...pagePropsOf(subject)}>
      {token_label === null ? null : (
        <p>
          <strong>{token_label}</strong>
        </p>
      )}
      <p>{effect}</p>
      <ActionForm
        action={accountPath(subject.identity_id, action)}
        form={form}
        button={button}
        danger={DANGEROUS_ACTIONS.includes(action)}
        back={back}
      >
        {action === "plan" ? <PlanField form={form} current={subject.plan} plans={plans} /> : null}
        {action === "revoke-token" ? (
          <input type="hidden" name="token_id" value={form.values["token_id"] ?? ""} />
        ) : null}
        {action === "delete" ? (
          <Field
            form={form}
            name="confirm"
            label="The identity of the account, to confirm"
            spellcheck={false}
            hint={<code>{subject.identity_id}</code>}
          />
        ) : null}
        {reason_hint === null ? null : <Reason form={form} hint={reason_hint} />}
      </ActionForm>
    </FormPage>
  );
}

interface PlanFieldProps {
  readonly form: FormState;
  readonly current: string;
  readonly plans: readonly string[];
}

/** A plan from the list, or any other. */
function PlanField({ form, current, plans }: PlanFieldProps) {
  return (
    <>
      <Field
        form={form}
        name="plan"
        label="New plan"
        list="plans"
        // Firefox shows no list in a field without autocompletion.
        autocomplete="on"
        hint={`The current plan is ${nameFromSlug(current)} (${current}). Choose a plan that was used before, or write another in lowercase letters and digits.`}
      />
      <datalist id="plans">
        {plans.map((plan) => (
          <option value={plan}>{nameFromSlug(plan)}</option>
        ))}
      </datalist>
    </>
  );
}

export interface CreditsPageProps {
  readonly subject: ActionSubject;
  readonly form: FormState;
}

/** The first step: the amount and the reason. */
export function CreditsPage({ subject, form }: CreditsPageProps) {
  return (
    <FormPage title="Give or take credits" form={form} {...pagePropsOf(subject)}>
      <p>
        The balance is <strong>{credits(subject.credits)}</strong>
        {subject.reserved === 0 ? "" : `, and ${number(subject.reserved)} more held`}. The next page
        shows the new balance before anything is changed.
      </p>
      <ActionForm
        action={accountPath(subject.identity_id, "credits")}
        form={form}
        button="Review"
        back={accountPath(subject.identity_id)}
      >
        <Choices
          form={form}
          name="direction"
          legend="Action"
          options={[
            ["give", "Give credits"],
            ["take", "Take credits away"],
          ]}
        />
        <Field form={form} name="amount" label="Number of credits" inputmode="numeric" />
        <Reason
          form={form}
          hint="The account’s holder sees this in their statement. It is also kept in the audit log."
        />
      </ActionForm>
    </FormPage>
  );
}

export interface ReviewCreditsProps extends CreditsPageProps {
  /** Negative if credits are taken. */
  readonly amount: number;
}

/** The second step: the new balance, to confirm. */
export function ReviewCreditsPage({ subject, form, amount }: ReviewCreditsProps) {
  const after = subject.credits + amount;
  const giving = amount > 0;
  const change = credits(Math.abs(amount));
  const { direction = "", amount: typed = "", reason = "" } = form.values;
  return (
    <FormPage
      title={giving ? `Give ${change}?` : `Take ${change}?`}
      form={form}
      {...pagePropsOf(subject)}
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
        The account’s holder will see this reason: <q>{reason}</q>
      </p>
      <ActionForm
        action={accountPath(subject.identity_id, "credits")}
        form={form}
        button={giving ? `Give ${change}` : `Take ${change}`}
        danger={!giving}
        back={accountPath(subject.identity_id)}
      >
        {Object.entries({ direction, amount: typed, reason, confirmed: "yes" }).map(
          ([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ),
        )}
        {after < 0 && !giving ? <BelowZero form={form} /> : null}
      </ActionForm>
    </FormPage>
  );
}

/** Taking credits below zero needs its own confirmation. */
function BelowZero({ form }: { form: FormState }) {
  const problem = form.problems["below_zero"];
  return (
    <>
      <p class="hint" id="below_zero-hint">
        The account will owe credits. Its apps cannot start jobs until the balance is above zero
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
        Take them even though the balance goes below zero
      </Choice>
    </>
  );
}
