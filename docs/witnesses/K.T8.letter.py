"""K.T8.letter is refuted. It says (K Theorem 8, to the letter):

    PS-MFA ends at a stationary point of Psi under Assumption 2, from any feasible point.

Assumed: Assumption 2, g' = z^-alpha of each server; it is shown of all prices (to the letter), and so of those of
full resources (as (40) asks). Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1,
                  "32382214526072342207547148367197405120995494897631844142629/32315597232382607711246689697314399026920551594082786611200",
                  "18/5",
                  "116415390611712308259215455943594770181572125731513232246469/32315597232382607711246689697314399026920551594082786611200",
                  1, 1, "1/8", "1/16", "11/16", "4/9"],
                 ["81/4",
                  "423528471232430208601002823642403534620645885322497842856727/20910092326835804989630210980615199370360356913818273689600",
                  1,
                  "21009103184587355863240494658080084562377947664283243404203/20910092326835804989630210980615199370360356913818273689600",
                  "3/8", "1/3", 1, 1, "3/4", "6/13"],
                 ["1434183032955/373076324848",
                  "2932159557165742092118836626591896281535156816802849/767841095778770355390466973210096925683251622169600",
                  "5633858139/5009960500",
                  "5280744063968935072170338844574182471668865584803/4746860831167582076177742410605120643034900096000",
                  0, 0, 0, 0, 1, 1],
                 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]])
capacities = exact([["16637043270511/93269081212",
                     "4373623125692653802471597280134293888726933303397620528436236187/24527538299378399252836237480261628861432698659908835037900800",
                     67, 67,
                     "12173063443892681442987356999514933728762373140541564268157660056076959062077574161506395498594577751253179549276859122703612461816572759996392453/2844269997240686403286020586386532540792940010676818223490325343900639147385438038140011116442657254621457324494268147371929098260529006706217600",
                     5,
                     "4215274038988769545050171711779726218903751065020787603146939832821789768622885979244105433792632726139232848344148995275613697206629614213542275186688/479562957671555032249134610944509864775173970961653524568380217607943498457622820904413125960345019644802817807035256472753681815804479861265409517543",
                     17,
                     "5409140383392954215746744771812828046731436243580089488199930263528260127421930258782075535793996951818616401958761496872848628817855183690425581112000000/179367032688618075269935277751784764697641041092412397686061968941181635099315331047676327605709075123346586432346300839382904025147444492537303388535909",
                     60],
                    [28, 28, "1178947827851/90179289000",
                     "34861946490050154319585871733556179964392167199007538333690741/2666036771671565136177851900028437919720945506511829895424000",
                     "222675103139373564987093179540441934446644513603255759594299773724108021/31350765703587142611316667655627835964915600017891233573475088308265800",
                     "222675103139373564987093179540441934446644513603255759594299773724108021/62701531407174285222633335311255671929831200035782467146950176616531600",
                     "13/12",
                     "20463883070277350435235890334145029206383539285559162352053250973008658432/60978482230070388217120965242968487357359519709220648632800551114459074159",
                     4,
                     "5945197277302537131352595972278680761005884119923556527612794379687086976000/1612303387355656097394457292915437526654094112219729052949194800205915225519"],
                    [1, 2, 2, 2, 2, 2, 2, 2, 2, 2]])
eligible = [[1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]]
weights = exact(["125403062814348570445266670622511343859662400071564934293900353233063200/3774154290497857033679545415939693804180415484800945077869487690239119",
                 "60978482230070388217120965242968487357359519709220648632800551114459074159/319748172973083600550560786471016081349742801336861911750832046453260288",
                 "1612303387355656097394457292915437526654094112219729052949194800205915225519/72502405820762647943324341125349765378120538047848250336741394874232768000",
                 1])
problem = (demands, capacities, eligible, weights)
alphas = [2, 3, 2]
tasks = exact([[1, "31/9", 0], [8, "1/9", 0], [4, "1/2", 0], [0, 0, 1]])
prices = exact([["930257136614218334898170230007672120126475016227195926700794561/3876790874353965275682528905137954801180783847771666804968824",
                 0, 0, 0, 0, 0, 0, 0, 0, 0],
                [0, 0,
                 "78376821872984472611001304808187722522263885757256381250826422477933/53541508087967584647231998977726618988873148907841085509974609116",
                 0, 0, 0, 0, 0, 0, 0],
                [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]])
factors = exact([[-256, 256], [-256, 256], [0]])


def used(need, x, i, r):
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


def feasible(need, room, x, *logic):
    """No capacity is exceeded and no number of tasks is negative (K 10, W 3.2)."""
    all_, _, _, ge, _ = logic
    return all_([*(ge(v, 0) for v in x.values()), *(ge(c, used(need, x, i, r)) for (i, r), c in room.items())])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def arcs(problem):
    """{(user, place, server): {resource: demand}} of those who may run there; places are servers for each of a user's vectors."""
    demands, capacities, eligible, _ = problem
    need = {}
    for n, rows in enumerate(demands):
        vectors = rows if isinstance(rows[0], list) else [rows]
        for k, (d, i) in enumerate((d, i) for d in vectors for i in range(len(capacities))):
            if eligible[n][i] and alone(d, capacities[i]) > 0:
                need[n, k, i] = {r: q for r, q in enumerate(d) if q}
    return need


def tables(rows):
    """{(server, resource): number}."""
    return {(i, r): v for i, row in enumerate(rows) for r, v in enumerate(row)}


EXACT = (all, any, lambda a, b: not a or b, lambda a, b: a >= b, lambda a, b: a == b)


def fits(problem, tasks):
    """{arc: tasks} of tasks by user and place, which are feasible, and 0 where a user may not run."""
    need, room = arcs(problem), tables(problem[1])
    x = {a: tasks[a[0]][a[1]] for a in need}
    assert all(v == 0 or (n, k) in {a[:2] for a in need} for (n, k), v in tables(tasks).items())
    assert feasible(need, room, x, *EXACT)
    return x


def whole_root(square):
    """The largest integer whose square is at most this, by Newton's method from above."""
    found = square
    while found * found > square:
        found = (found + square // found) // 2
    return found


def root(square):
    """The square root of the square of a rational."""
    found = F(whole_root(square.numerator), whole_root(square.denominator))
    assert found * found == square
    return found


def slopes(x, f):
    """psi_a and psi_b at (x, f), for psi = (rho - x - f)^2 / 2 with rho = sqrt(x^2 + f^2) (K 35-37)."""
    rho = root(x**2 + f**2)
    return (rho - x - f) * (x / rho - 1), (rho - x - f) * (f / rho - 1)


def merit_gradient(problem, alphas, tasks, prices):
    """dPsi/dx by server and user, and dPsi/dlambda by server and resource (K 93, 94), for g' = z^-alpha of each server.

    Psi = sum psi(x_ni, f_ni) (`slopes`); for users who are not eligible there is no term.
    """
    demands, capacities, eligible, weights = problem
    have = [sum(row) for row in tasks]
    by_x = [[F(0) for _ in demands] for _ in capacities]
    by_price = [[F(0) for _ in capacity] for capacity in capacities]
    pull = [F(0) for _ in demands]
    for i, capacity in enumerate(capacities):
        for n, d in enumerate(demands):
            if not eligible[n][i]:
                continue
            gamma, x = alone(d, capacity), tasks[n][i]
            need = (weights[n] * gamma / have[n]) ** alphas[i] / gamma
            f = sum(p * q for p, q in zip(prices[i], d)) - need
            by_x[i][n], by_f = slopes(x, f)
            pull[n] += by_f * alphas[i] * need / have[n]
            for r, q in enumerate(d):
                by_price[i][r] += by_f * q
    return [[v + pull[n] if eligible[n][i] else F(0) for n, v in enumerate(row)] for i, row in enumerate(by_x)], by_price


def full_resources(problem, tasks, i):
    """The resources of server i that are full."""
    return [r for r, c in enumerate(problem[1][i]) if sum(x[i] * d[r] for x, d in zip(tasks, problem[0])) == c]


def no_descent(gradient, columns, priced, factors):
    """-gradient is in the normal cone of what (46) allows, a sum of the columns d_r of full resources, so v_x = 0.

    The factor of a resource without a price must not be negative, for there v.d_r <= 0; where it has one, v.d_r = 0.
    """
    parts = [sum(s * column[n] for s, column in zip(factors, columns)) for n in range(len(gradient))]
    return parts == [-g for g in gradient] and all(s >= 0 or p for s, p in zip(factors, priced))


def price_moves(problem, tasks, prices, factors, by_x, by_price):
    """v_lambda (47-48) of every resource, full or not, by server, at a point (38-40) where v_x = 0 by these factors."""
    demands, moves = problem[0], []
    for i, of_prices in enumerate(by_price):
        full = full_resources(problem, tasks, i)
        assert all(price >= 0 and (r in full or price == 0) for r, price in enumerate(prices[i]))
        assert no_descent(by_x[i], [[d[r] for d in demands] for r in full], [prices[i][r] > 0 for r in full], factors[i])
        betas = [-sum(a * d[r] for a, d in zip(by_x[i], demands)) for r in range(len(of_prices))]
        v = [-slope + (beta if slope * beta <= 0 else 0) for slope, beta in zip(of_prices, betas)]  # (47), U(0) = 1
        moves.append([part if price > 0 else max(part, F(0)) for part, price in zip(v, prices[i])])  # (48)
    return moves


def stop_without_solution(problem, alphas, tasks, prices, factors):
    """Assumption 2 holds, nothing moves by (46)-(48), and grad_x Psi is not 0."""
    demands, capacities, eligible, _ = problem
    assert fits(problem, tasks)
    for i, capacity in enumerate(capacities):
        assert all(any(d[r] and not places[i] for d, places in zip(demands, eligible)) for r in range(len(capacity)))
    by_x, by_price = merit_gradient(problem, alphas, tasks, prices)
    assert not any(move for row in price_moves(problem, tasks, prices, factors, by_x, by_price) for move in row)
    i, n = max(((i, n) for i in range(len(by_x)) for n in range(len(demands))), key=lambda place: abs(by_x[place[0]][place[1]]))
    assert by_x[i][n] != 0
    return {"server": i + 1, "user": n + 1, "slope": by_x[i][n]}


found = stop_without_solution(problem, alphas, tasks, prices, factors)
print(
    "K.T8.letter: v = 0, and the gradient by the tasks of user {user} on server {server} is "
    "{slope}: PS-MFA ends where it starts".format(**found)
)
