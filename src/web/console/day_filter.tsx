/** A filter with a UTC day. */
export function DayFilter(props: {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
}) {
  const { name, label, value = "" } = props;
  return (
    <>
      <label for={name}>{label}</label>
      <input id={name} name={name} type="date" value={value} />
    </>
  );
}
