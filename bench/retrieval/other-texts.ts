/** What people ask any assistant: nothing in these conversations answers it. */
export const requests = [
  "Write a regular expression that matches an IPv4 address.",
  "What is the capital of Australia?",
  "Translate 'good night' into Finnish.",
  "Can you explain how a binary search tree works?",
  "What's 17% of 2,340?",
  "Give me a recipe for lentil soup.",
  "Summarise the plot of Hamlet in two sentences.",
  "How do I undo the last git commit?",
  "Why is the sky blue?",
  "Convert 20 miles to kilometres.",
  "Write a haiku about autumn.",
  "What is my blood type?",
  "When does my passport expire?",
  "Which car do I drive?",
  "What is my wifi password?",
  "How much rent do I pay?",
  "What is my sister's phone number?",
  "Do I have any allergies?",
  "What size shoes do I wear?",
  "Hello, how are you today?",
  "Thanks, that helps a lot!",
  "ok",
  "Can you make that shorter, please?",
  "What did I order at the dentist's in Reykjavik?",
  "Fix the typo in this sentence: 'I recieved teh letter.'",
];

/** The same in English, German, Spanish and Chinese. */
export const moreRequests = [
  "Sort these numbers from large to small: 8, 41, 3, 19.",
  "How many bytes are in a mebibyte?",
  "Good morning! Are you there?",
  "No, the other way round, please.",
  "What does the HTTP status 418 mean?",
  "When is my next appointment with the tax office?",
  "Turn the answer into a table with three columns.",
  "Wie heißt die Hauptstadt von Kanada?",
  "Schreib mir eine Formel für die Fläche eines Kreises.",
  "Danke, das reicht mir schon!",
  "Wie lautet die Nummer meines Personalausweises?",
  "Erkläre mir den Unterschied zwischen TCP und UDP.",
  "Kannst du das bitte noch einmal kürzer sagen?",
  "¿Cuál es la raíz cuadrada de 144?",
  "Traduce esta frase al portugués: 'La puerta está cerrada.'",
  "Muchas gracias, eso es todo por hoy.",
  "¿Cuándo caduca mi permiso de conducir?",
  "Dame una receta de gazpacho para cuatro.",
  "¿Por qué flota el hielo en el agua?",
  "澳大利亚有多少个州？",
  "请把这句话翻译成英文：今天不下雨。",
  "谢谢，没有别的问题了。",
  "我的护照号码是多少？",
  "用一句话解释什么是递归。",
  "早上好，你在吗？",
];

/** Some hundred words of chit-chat, before and after a question. They ask nothing. */
export const plainChat = [
  [
    "Hey there, hope your week is going fine! Mine has been rather hectic, the bus was late twice, my phone battery keeps dying and I still have a pile of laundry waiting for me. Anyway, I was just sitting here with a cup of coffee, looking out at the rain, and something crossed my mind that I wanted to ask you before I forget it again.",
    "No hurry at all, take the time you need. I will probably put some music on and tidy the kitchen in the meantime. Thanks a lot in advance, you are always such a great help with these things, I really appreciate it!",
  ],
  [
    "Good morning! I slept badly because the neighbours had a party until three, and the cat decided to wake me at six. But the sun is out now and I feel a little better after breakfast. I was telling a colleague about all the conversations we have had and she asked me something I could not answer straight away.",
    "Sorry for the long message, I tend to ramble when I am tired. If you are not sure, just say so, that is perfectly okay. I have a meeting in ten minutes and will be back at my desk afterwards to read what you found.",
  ],
  [
    "Okay so, quick question, although nothing is ever quick with me, as you know. I am on the train home, the internet is terrible and the man next to me eats something that smells of onions. I have been trying to remember this for an hour and it is driving me crazy, so please help me out here.",
    "I promised my mother to call her tonight and she will surely want to talk about everything under the sun, so I would like to have this clear by then. Let me know what you think, and have a wonderful evening, talk to you soon!",
  ],
  [
    "The heating in the office broke down again, so I am typing this with gloves on. The man from the service firm came at nine, looked at the boiler, shook his head and left to buy a part. My tea was cold within five minutes. To take my mind off it I went through some old things, and that left me with one open point.",
    "I will copy your answer into my notebook, so a short one is fine. After that I need to water the plants, answer two letters from the bank and find out where my left boot went. The weekend cannot come soon enough.",
  ],
  [
    "",
    "I ask because we played a guessing game last night and I lost by a mile. There was far too much pizza, somebody spilled juice on the carpet, and the dice rolled under the sofa twice. We laughed until the people downstairs knocked on the ceiling. Next time I want to be better prepared than everybody else at the table, so be as exact as you can. Now I will go for a run, buy bread and stamps on the way back, and write the shopping list for tomorrow, since the fridge is empty once more.",
  ],
  [
    "It is one of those days. First the alarm clock stayed silent, then the lift was out of order, and on the way down the stairs I noticed that I wore two different socks. The bakery had sold out of everything but raisin buns. At work the printer ate my report, page by page, while three people stood around it and gave advice. Now it is finally quiet, the window is open, a blackbird sings in the yard, and I can think about something else for a moment. So here is what I have been meaning to ask you all day long.",
    "",
  ],
];

/** The same with questions that the user answers or does not mean. */
export const aroundQuestions = [
  [
    "Hi again! How are you doing? Did you see the weather today? I got completely soaked on my bike, and who was standing at the traffic light without an umbrella as well? My boss! We had to laugh. Well, what can one do. I wanted to ask you something else, though, and it has been on my mind since lunch.",
    "Do you think that is easy to find out? If not, no problem at all. Is it already four o'clock? Then I had better hurry, since the post office closes soon and the parcel has been lying here for a week.",
  ],
  [
    "Can you believe that the elevator is broken again? Nobody knows why. I walked up eight floors with two bags of groceries, and guess what I had forgotten? The milk, of course. Why does that always happen to me? Be that as it may, I am sitting down now and have a question for you.",
    "Could you answer that in a sentence or two? My tablet is nearly out of power, and where I put the charger is anybody's guess. Shall we talk about the other thing tomorrow? I should be free from ten.",
  ],
  [
    "What a week! Isn't it strange how fast time goes by? I meant to write earlier, but then the dishwasher leaked, and who do you call on a Sunday evening? Exactly, no one. So I mopped the floor myself and watched half a film. Are you ready for something completely different?",
    "Would you mind checking twice? I have been wrong about such things before, and wasn't that embarrassing? Anyway, thank you so much. What would I do without you? Right, I would have to look through everything myself.",
  ],
];
