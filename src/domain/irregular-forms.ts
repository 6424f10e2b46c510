/** Base form, then the forms that an English stemmer does not lead back to it. */
const forms = `
be am is are was were been
begin began begun
bite bit bitten
blow blew blown
break broke broken
bring brought
build built
buy bought
catch caught
choose chose chosen
come came
child children
deal dealt
do did done
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feel felt
fight fought
find found
fly flew flown
foot feet
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go went gone
grow grew grown
have had has
hear heard
hide hid hidden
hold held
keep kept
know knew known
lead led
leave left
lend lent
lose lost
make made
man men
mean meant
meet met
mouse mice
pay paid
person people
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
sell sold
send sent
shake shook shaken
shoot shot
show shown
sing sang sung
sit sat
sleep slept
speak spoke spoken
spend spent
stand stood
steal stole stolen
swim swam swum
take took taken
teach taught
tell told
think thought
throw threw thrown
tooth teeth
understand understood
wake woke woken
wear wore worn
win won
woman women
write wrote written
`;

/** Irregular English form → base form. */
export const irregularForms: ReadonlyMap<string, string> = new Map(
  forms
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [base = "", ...others] = line.split(" ");
      return others.map((form) => [form, base] as const);
    }),
);
